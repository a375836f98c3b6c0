-- A loop body runs many times, so it cannot consume what is outside of it.
def f [n] (xs: *[n]i64) : i64 =
--        ~~~~~~~~~~~~~ this parameter
  loop sum = 0 for i < n do
    sum + (xs with [i] = i)[0]
--        ^^^^^^^^^^^^^^^^^ error[E0402]: `xs` is consumed, but it may not be
-- = a function or a loop body cannot consume what is bound outside of it
-- = consume a copy instead: `copy` makes one
