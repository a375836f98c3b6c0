-- There are no implicit conversions between scalar types.
def f (x: i32) : i64 = i64.i32 x + x
--                                 ^ error[E0301]: argument 2 of `+`: expected `i64`, found `i32`
-- = `i64.i32` converts a value of type `i32`
