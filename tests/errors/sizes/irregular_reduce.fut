-- What combines rows must know their length.
entry combine (ns: []i64) : []i64 = reduce (++) [] (map iota ns)
--                                          ^^ error[E0302]: argument 1 of `reduce`: expected `[]i64 -> []i64 -> []i64`, found `(xs: []i64) -> (ys: []i64) -> *[2 * _]i64`
-- = the sizes `_` and `2 * _` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
