-- The rows that `map` hands out are parts of its array.
def f [n] [m] (xss: *[n][m]i64) : [n][m]i64 =
  map (\xs -> xs with [0] = 1) xss
--            ^^^^^^^^^^^^^^^ error[E0402]: `xs` is consumed, but it may not be
--      ~~ this parameter
-- = only a parameter of a unique type, which is written with `*`, may be consumed
-- = consume a copy instead: `copy` makes one
