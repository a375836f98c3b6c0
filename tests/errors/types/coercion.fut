-- A coercion changes sizes alone.
def f [n] (m: i64) (xs: [n]i32) = xs :> [m]i64
--                                ^^ error[E0301]: size coercion: expected `[]i64`, found `[]i32`
-- = `i32` and `i64` differ
-- = `i64.i32` converts a value of type `i32`
