-- The parts of a result that is not unique may share memory with each other.
def both (n: i64) : ([]i64, []i64) =
  let xs = iota n
  in (xs, xs)

def f (n: i64) : i64 =
  let (xs, ys) = both n
  let xs[0] = 1
--    ~~~~~~~~~ the result of `both` is consumed here
  in xs[0] + ys[0]
--           ^^ error[E0401]: `ys` is used after it has been consumed
-- = `ys` may share memory with the result of `both`
-- = consume a copy instead: `copy` makes one
