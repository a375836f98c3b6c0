-- Bounds of slices are of type `i64`.
def f (xs: []i32) (i: i32) : []i32 = xs[i:]
--                                      ^ error[E0301]: slice: expected `i64`, found `i32`
-- = `i64.i32` converts a value of type `i32`
