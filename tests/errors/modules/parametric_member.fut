-- A parametric module has no members before it is applied.
module make (N: numeric) = {
  def two = N.i64 2
}

def two : i64 = make.two
--              ^^^^ error[E0205]: the module `make` is parametric and has no members before it is applied
