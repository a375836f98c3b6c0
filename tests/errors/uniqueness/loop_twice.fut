-- The next values of consumed loop parameters do not share memory.
def f [n] (k: i64) : ([n]i64, [n]i64) =
  loop (xs, ys) = (replicate n 0, replicate n 1) for _i < k do
    let xs[0] = ys[0]
--  ^^^^^^^^^^^^^^^^^ error[E0406]: the next value of the loop parameter `ys` may share memory with that of another, and one of them is consumed
-- = both may share memory with `xs`
-- = give the loop a copy of one of them: `copy` makes one
    in (xs, xs)
