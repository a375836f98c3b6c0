-- The bits of floats cannot be complemented.
def f (x: f32) : f32 = !x
--                      ^ error[E0301]: complement: expected `a number`, found `f32`
-- = `f32` is none of i8, i16, i32, i64, u8, u16, u32, u64, bool
