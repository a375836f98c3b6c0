-- A size that is bound inside is no part of a type outside.
def f (x: i64) : [x][x]i64 = map (\i -> iota i) (iota x)
--                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0302]: result of the function: expected `[x][x]i64`, found `[x][..]i64`
-- = the sizes `x` and `..` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
