-- Sizes may change in a loop, but then nobody outside can rely on them.
def f [n] (xs: [n]i64) : [n]i64 =
--     ~ one of the sizes is bound here
  loop ys = xs for _i < 3 do tail ys
--^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0302]: result of the function: expected `[n]i64`, found `[n]i64`
--~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ the size `n` is computed here: a size that changes in this loop
-- = the sizes `n` and `n` are not known to be equal; they are different sizes of one name
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
