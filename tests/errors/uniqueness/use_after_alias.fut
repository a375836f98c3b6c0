-- A slice shares the memory of its array.
def f [n] (xs: *[n]i64) : i64 =
  let front = xs[:2]
  let xs[0] = 1
--    ~~~~~~~~~ `xs` is consumed here
  in front[0] + xs[0]
--   ^^^^^ error[E0401]: `front` is used after it has been consumed
-- = `front` may share memory with `xs`
-- = consume a copy instead: `copy` makes one
