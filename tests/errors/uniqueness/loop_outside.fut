-- The next value of a consumed loop parameter is not something from outside.
def f [n] (ys: [n]i64) (k: i64) : [n]i64 =
--        ~~~~~~~~~~~~ this parameter
  loop (xs: *[n]i64) = replicate n 0 for i < k do
    let xs[0] = i
--  ^^^^^^^^^^^^^ error[E0406]: the loop consumes its parameter `xs`, but the next value of it may share memory with `ys`
-- = the next iteration would consume what is bound outside of the loop
-- = give the loop a copy: `copy` makes one
    in if xs[0] > 3 then xs else ys
