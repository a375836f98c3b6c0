-- A parameter of a unique type consumes its argument.
def reset [n] (xs: *[n]i64) : *[n]i64 = xs with [0] = 0

def f [n] (xs: *[n]i64) : i64 =
  let ys = reset xs
--               ~~ `xs` is consumed here
  in ys[0] + length xs
--                  ^^ error[E0401]: `xs` is used after it has been consumed
-- = consume a copy instead: `copy` makes one
