-- Conversions between all numeric types; a float that no integer can hold saturates, NaN and the infinities give 0, and a
-- negative float wraps in an unsigned type.
-- ==
-- entry: narrow
-- input { 300i64 } output { 44i8 300i16 300i32 44u8 300u16 300u32 300u64 }
-- input { -1i64 } output { -1i8 -1i16 -1i32 255u8 65535u16 4294967295u32 18446744073709551615u64 }
entry narrow (x: i64) =
  (i8.i64 x, i16.i64 x, i32.i64 x, u8.i64 x, u16.i64 x, u32.i64 x, u64.i64 x)

-- ==
-- entry: widen
-- input { -1i8 255u8 } output { -1i64 255i64 255u64 255u64 -1f32 255f64 }
entry widen (x: i8) (y: u8) =
  (i64.i8 x, i64.u8 y, u64.i8 x, u64.u8 y, f32.i8 x, f64.u8 y)

-- ==
-- entry: truncated
-- input { [1.9f64, -1.9f64, 300f64, -300f64, 1e30f64, -1e30f64, f64.nan, f64.inf, -f64.inf] }
-- output { [1i8, -1i8, 127i8, -128i8, 127i8, -128i8, 0i8, 0i8, 0i8]
--          [1u8, 255u8, 255u8, 128u8, 255u8, 128u8, 0u8, 0u8, 0u8]
--          [1i32, -1i32, 300i32, -300i32, 2147483647i32, -2147483648i32, 0i32, 0i32, 0i32]
--          [1u32, 4294967295u32, 300u32, 4294966996u32, 4294967295u32, 2147483648u32, 0u32, 0u32, 0u32]
--          [1u64, 18446744073709551615u64, 300u64, 18446744073709551316u64, 18446744073709551615u64, 9223372036854775808u64, 0u64, 0u64, 0u64] }
entry truncated (xs: []f64) =
  (map i8.f64 xs, map u8.f64 xs, map i32.f64 xs, map u32.f64 xs, map u64.f64 xs)

-- ==
-- entry: truncated_single
-- input { [3.5f32, -3.5f32, 3e9f32, f32.inf, f32.nan] }
-- output { [3i32, -3i32, 2147483647i32, 0i32, 0i32] [3u32, 4294967293u32, 3000000000u32, 0u32, 0u32] [3u16, 65533u16, 65535u16, 0u16, 0u16] }
entry truncated_single (xs: []f32) = (map i32.f32 xs, map u32.f32 xs, map u16.f32 xs)

-- ==
-- entry: halves
-- input { [1.5f16, -2f16, f16.inf, f16.nan] } output { [1i32, -2i32, 0i32, 0i32] [1u8, 254u8, 0u8, 0u8] [1.5f64, -2f64, f64.inf, f64.nan] }
entry halves (xs: []f16) = (map i32.f16 xs, map u8.f16 xs, map f64.f16 xs)

-- ==
-- entry: rounded
-- input { 16777217i64 2049i32 } output { 16777216f32 16777217f64 2048f16 }
entry rounded (x: i64) (y: i32) = (f32.i64 x, f64.i64 x, f16.i32 y)

-- ==
-- entry: truths
-- input { 2i32 f32.nan } output { true true 1u8 0f64 }
entry truths (x: i32) (y: f32) = (bool.i32 x, bool.f32 y, u8.bool true, f64.bool false)
