-- A pattern binds each name once.
def f (p: (i32, i32)) : i32 =
  let (x, x) = p
--        ^ error[E0202]: the name `x` is bound twice in one pattern
  in x
