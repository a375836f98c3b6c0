-- A local function may consume its own parameters, nothing else.
def f [n] (xs: *[n]i64) : [n]i64 =
--        ~~~~~~~~~~~~~ this parameter
  let put [m] (ys: *[m]i64) (i: i64) : *[m]i64 = ys with [i] = xs[i]
  let clear (i: i64) = xs with [i] = 0
--                     ^^^^^^^^^^^^^^^ error[E0402]: `xs` is consumed, but it may not be
-- = a function or a loop body cannot consume what is bound outside of it
-- = consume a copy instead: `copy` makes one
  in put (clear 1) 2
