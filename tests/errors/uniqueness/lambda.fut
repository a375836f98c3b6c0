-- A lambda may run many times, so it cannot consume what is outside of it.
def f [n] (xs: *[n]i64) : [n]i64 =
--        ~~~~~~~~~~~~~ this parameter
  map (\i -> (xs with [i] = 0)[i]) (iota n)
--           ^^^^^^^^^^^^^^^^^ error[E0402]: `xs` is consumed, but it may not be
-- = a function or a loop body cannot consume what is bound outside of it
-- = consume a copy instead: `copy` makes one
