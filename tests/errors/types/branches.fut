-- Both branches have one type.
def half (x: i32) = if x % 2 == 0 then x / 2 else 0.5f32
--                                                ^^^^^^ error[E0301]: branches differ in type: expected `i32`, found `f32`
-- = `i32.f32` converts a value of type `f32`
