-- Branches that differ in a size have a result of another size.
def or_three [n] (xs: [n]i32) : [n]i32 = if n == 0 then [1, 2, 3] else xs
--                                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0302]: result of the function: expected `[n]i32`, found `[n]i32`
--            ~ one of the sizes is bound here
--                                       ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ the size `n` is computed here: the branches differ in this size
-- = the sizes `n` and `n` are not known to be equal; they are different sizes of one name
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
