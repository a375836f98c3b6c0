-- A function that holds an array cannot be used after the array is consumed.
def f [n] (xs: *[n]i64) : i64 =
  let at i = xs[i]
  let ys = xs with [0] = 1
--         ~~~~~~~~~~~~~~~ `xs` is consumed here
  in at 0 + ys[0]
--   ^^ error[E0401]: `at` is used after it has been consumed
-- = `at` may share memory with `xs`
-- = consume a copy instead: `copy` makes one
