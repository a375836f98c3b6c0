-- A loop that updates its parameter consumes the initial value.
def f [n] (xs: *[n]i64) : [n]i64 =
  loop ys = xs for i < n do
--          ~~ `xs` is consumed here, before the loop
    ys with [i] = xs[n - 1 - i]
--                ^^ error[E0401]: the loop uses `xs`, which the initial value of a loop parameter has consumed
-- = a loop parameter that the body consumes also consumes its initial value
-- = let the loop begin with a copy: `copy` makes one
