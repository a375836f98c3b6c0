-- What one branch consumes is gone after the branches.
def f [n] (b: bool) (xs: *[n]i64) : i64 =
  let first = if b then (xs with [0] = 1)[0] else 2
--                      ~~~~~~~~~~~~~~~~~ `xs` is consumed here
  in first + xs[0]
--           ^^ error[E0401]: `xs` is used after it has been consumed
-- = consume a copy instead: `copy` makes one
