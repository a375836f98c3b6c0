-- The rows of an array literal have one length.
def ragged = [[1i32, 2], [3]]
--                       ^^^ error[E0302]: array element: expected `[2]i32`, found `[1]i32`
-- = the sizes `2` and `1` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
