-- An array that is updated in place is gone afterwards.
def f [n] (xs: *[n]i64) : i64 =
  let ys = xs with [0] = 1
--         ~~~~~~~~~~~~~~~ `xs` is consumed here
  in xs[0] + ys[0]
--   ^^ error[E0401]: `xs` is used after it has been consumed
-- = consume a copy instead: `copy` makes one
