-- Rows of different lengths do not make a regular array.
def ragged : [2][2]i32 = [[1i32, 2], [3]]
--                       ^^^^^^^^^^^^^^^^ error[E0302]: result of the function: expected `[2][2]i32`, found `[2][..]i32`
-- = the sizes `2` and `..` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
