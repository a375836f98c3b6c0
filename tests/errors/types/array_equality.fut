-- Arrays are compared element by element.
def same [n] (xs: [n]i32) (ys: [n]i32) : bool = xs == ys
--                                                 ^^ warning[W0304]: comparing arrays with `==` or `!=` is deprecated
-- = compare their elements, as in `and (map2 (==) xs ys)`
