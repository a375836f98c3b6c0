-- Two calls that choose a size themselves choose two sizes.
def f (xs: []i64) : []i64 = map2 (+) (filter (> 0) xs) (filter (< 0) xs)
--                                                     ^^^^^^^^^^^^^^^^^ error[E0302]: argument 3 of `map2`: expected `[d]i64`, found `[d]i64`
--                                                 ~~ the size `d` is computed here: the result of this call has a size of its own
--                                                                   ~~ the size `d` is computed here: the result of this call has a size of its own
-- = the sizes `d` and `d` are not known to be equal; they are different sizes of one name
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
