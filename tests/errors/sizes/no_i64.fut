-- A size is of type `i64`.
def f (n: i32) : [n]i32 = replicate 2 n
--                ^ error[E0301]: size: expected `i64`, found `i32`
-- = `i64.i32` converts a value of type `i32`
