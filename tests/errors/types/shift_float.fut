-- Shifts are for integers.
def f (x: f32) : f32 = x << 1
--                     ^ error[E0301]: argument 1 of `<<`: expected `an integer`, found `f32`
-- = `f32` is none of i8, i16, i32, i64, u8, u16, u32, u64
