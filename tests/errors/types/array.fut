-- All elements of an array have one type.
def mixed = [1i32, 2i64]
--                 ^^^^ error[E0301]: array element: expected `i32`, found `i64`
-- = `i32.i64` converts a value of type `i64`
