-- The results of what is mapped have sizes of their own.
def f [n] [m] (xss: [n][m]i32) : [n][m]i32 = map (\xs -> filter (> 0) xs) xss
--                                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0302]: result of the function: expected `[n][m]i32`, found `[n][..]i32`
-- = the sizes `m` and `..` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
