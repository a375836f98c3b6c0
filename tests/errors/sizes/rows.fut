-- The rows of an array have one size.
def xss : [][]i64 = [[1, 2], [3]]
--                           ^^^ error[E0302]: array element: expected `[2]i64`, found `[1]i64`
-- = the sizes `2` and `1` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
