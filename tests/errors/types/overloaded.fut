-- An overloaded operator is not defined for every type.
def both (x: bool) (y: bool) : bool = x + y
--                                    ^ error[E0301]: argument 1 of `+`: expected `a number`, found `bool`
-- = `bool` is none of i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64
