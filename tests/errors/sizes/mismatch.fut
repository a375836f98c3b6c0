-- Arrays that are zipped have the same size.
def f [n] [m] (xs: [n]i64) (ys: [m]i64) = zip xs ys
--                                               ^^ error[E0302]: argument 2 of `zip`: expected `[n]i64`, found `[m]i64`
-- = the sizes `n` and `m` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
