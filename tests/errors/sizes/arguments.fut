-- Arrays that are traversed together have one length.
def dot [n] [m] (xs: [n]f32) (ys: [m]f32) : f32 = f32.sum (map2 (*) xs ys)
--                                                                     ^^ error[E0302]: argument 3 of `map2`: expected `[n]f32`, found `[m]f32`
-- = the sizes `n` and `m` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
