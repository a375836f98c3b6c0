-- Of a tuple, only the marked parts may be consumed.
def f (xs: *[]i64, ys: []i64) : ([]i64, []i64) =
--                 ~~~~~~~~~ this parameter
  (xs with [0] = 1, ys with [0] = 1)
--                  ^^^^^^^^^^^^^^^ error[E0402]: `ys` is consumed, but it may not be
-- = only a parameter of a unique type, which is written with `*`, may be consumed
-- = consume a copy instead: `copy` makes one
