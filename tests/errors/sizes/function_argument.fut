-- A function given to `map` must return rows of one size.
def evens (xss: [][]i32) = map (filter (\x -> x % 2 == 0)) xss
--                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0302]: argument 1 of `map`: expected `[]i32 -> []i32`, found `(as: []i32) -> ?[d].*[d]i32`
-- = the sizes `_` and `d` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
