-- The bounds of a range have one type.
def f (x: i64) (y: i32) = x..<y
--                            ^ error[E0301]: range: expected `i64`, found `i32`
-- = `i64.i32` converts a value of type `i32`
