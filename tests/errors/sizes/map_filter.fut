-- The results of what is mapped have one size.
def f (xss: [][]i32) = map (\xs -> filter (> 0) xs) xss
--                         ^^^^^^^^^^^^^^^^^^^^^^^^ error[E0302]: argument 1 of `map`: expected `[]i32 -> []i32`, found `(xs: []i32) -> ?[d].[d]i32`
--                                              ~~ the size `d` is computed here: the result of this call has a size of its own
-- = the sizes `_` and `d` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
