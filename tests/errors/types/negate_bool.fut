-- Only numbers have negatives.
def f (x: bool) : bool = -x
--                        ^ error[E0301]: negation: expected `a number`, found `bool`
-- = `bool` is none of i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64
