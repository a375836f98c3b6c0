-- Arrays are equal or not, but have no order.
def f (xs: [2]i32) (ys: [2]i32) : bool = xs < ys
--                                       ^^ error[E0301]: argument 1 of `<`: expected `a number`, found `[]i32`
-- = `[]i32` is none of i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, bool
