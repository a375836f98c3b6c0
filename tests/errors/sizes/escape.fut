-- A size that is bound inside cannot be a part of a type outside.
def f (x: i64) = map (\i -> iota i) (iota x)
--                   ^^^^^^^^^^^^^^ error[E0302]: argument 1 of `map`: expected `i64 -> []i64`, found `(i: i64) -> [i]i64`
-- = the sizes `_` and `i` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
