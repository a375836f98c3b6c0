-- What is written is an element of the array.
def f [n] (a: *intrinsics.acc ([n]i64)) = intrinsics.acc_write a 0 1f32
--                                                                 ^^^^ error[E0301]: argument 3 of `acc_write`: expected `i64`, found `f32`
-- = `i64.f32` converts a value of type `f32`
