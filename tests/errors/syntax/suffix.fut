-- Only types of numbers end literals.
def next (x: i32) : i32 = x + 1i7
--                            ^^^ error[E0105]: `1i7` is no number
-- = a number may end in its type, one of `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, `f32`, `f64`
