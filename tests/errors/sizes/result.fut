-- The size of a result is what its type says.
def f [n] (xs: [n]i64) : [n]i64 = xs ++ xs
--                                ^^^^^^^^ error[E0302]: result of the function: expected `[n]i64`, found `[2 * n]i64`
-- = the sizes `n` and `2 * n` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
