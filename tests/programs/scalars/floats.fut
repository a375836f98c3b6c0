-- Floats follow IEEE 754; conversions to integers truncate.
-- ==
-- entry: arithmetic
-- input { 7f64 2f64 } output { 9f64 5f64 14f64 3.5f64 1f64 49f64 }
-- input { 1f64 0f64 } output { 1f64 1f64 0f64 f64.inf f64.nan 1f64 }
entry arithmetic (x: f64) (y: f64) = (x + y, x - y, x * y, x / y, x % y, x ** y)

-- ==
-- entry: rounding
-- input { 2.5f32 } output { 2f32 3f32 2f32 2f32 2i32 }
-- input { -2.5f32 } output { -3f32 -2f32 -2f32 -2f32 -2i32 }
entry rounding (x: f32) = (f32.floor x, f32.ceil x, f32.round x, f32.trunc x, i32.f32 x)

-- ==
-- entry: functions
-- input { 1f64 } output { 2.718281828459045f64 0f64 0.8414709848078965f64 0.5403023058681398f64 1f64 0.7853981633974483f64 }
entry functions (x: f64) = (f64.exp x, f64.log x, f64.sin x, f64.cos x, f64.sqrt x, f64.atan x)

-- ==
-- entry: special
-- input { f32.nan } output { true false }
-- input { f32.inf } output { false true }
-- input { -1f32 } output { false false }
entry special (x: f32) = (f32.isnan x, f32.isinf x)

-- ==
-- entry: compare
-- input { 1f32 f32.nan } output { false false true }
-- input { 0f32 -0f32 } output { false true false }
entry compare (x: f32) (y: f32) = (x < y, x == y, x != y)

-- ==
-- entry: half
-- input { 1.5f16 2.25f16 } output { 3.75f16 3.375f16 1.5f32 }
entry half (x: f16) (y: f16) = (x + y, x * y, f32.f16 x)

-- ==
-- entry: tobits
-- input { 1f32 1f64 } output { 0x3F800000u32 0x3FF0000000000000u64 }
entry tobits (x: f32) (y: f64) = (f32.to_bits x, f64.to_bits y)

-- ==
-- entry: literals
-- input { } output { 255i32 5i64 1000f64 0.5f32 16f64 97u8 }
entry literals = (0xFFi32, 0b101i64, 1e3, 0.5f32, 0x1.0p4f64, 'a': u8)
