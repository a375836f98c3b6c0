-- Literals: bases, underscores, exponents, suffixes, characters, strings, and the defaults of what has no suffix.
-- ==
-- entry: integers
-- input { } output { 1234567i32 255i64 10u8 -128i8 65535u16 4294967295u32 -1i64 18446744073709551615u64 }
entry integers =
  (1_234_567, 0xFFi64, 0b1010u8, -128i8, 0xFF_FFu16, 4294967295u32, -1i64, 18446744073709551615u64)

-- ==
-- entry: floats
-- input { } output { 1.5f64 1000f32 0.025f64 3f16 3f64 0.5f32 }
entry floats = (1.5, 1e3f32, 2.5e-2, 3f16, 3f64, 0x1.0p-1f32)

-- An integer literal may be a float where the type says so.
-- ==
-- entry: as_float
-- input { 2f32 } output { 6f32 }
entry as_float (x: f32) : f32 = 3 * x

-- ==
-- entry: characters
-- input { } output { 97u8 10i32 39i64 955i32 }
entry characters = ('a': u8, '\n': i32, '\'': i64, 'λ': i32)

-- A string is its bytes in UTF-8.
-- ==
-- entry: strings
-- input { } output { [104u8, 105u8, 10u8] [206u8, 187u8] 0i64 true }
entry strings = ("hi\n", "λ", length "", last "a\\b\"" == '"')

-- ==
-- entry: truths
-- input { } output { true false }
entry truths = (true, false)

-- ==
-- entry: trailing
-- input { } output { 1i32 2i32 [1, 2] 5i32 }
entry trailing = (1, 2, [1, 2,], {a = 5, b = 6,}.a,)

-- A minus before zero makes negative zero of a float type, and zero of an integer type.
-- ==
-- entry: zeros
-- input { 1f32 } output { 0x8000u16 0x80000000u32 0x8000000000000000u64 0u32 0x80000000u32 -f32.inf -f64.inf 0i32 0i64 }
entry zeros (one: f32) =
  (f16.to_bits (-0), f32.to_bits (-0), f64.to_bits (-0), f32.to_bits (-(-0)), f32.to_bits (-0x0), one / -0, 1 / (-0: f64), -0, length (iota (-0)))

-- Constants are folded with their signs.
-- ==
-- entry: folded
-- input { -0f64 0f64 } output { [0x8000000000000000u64, 0u64, 0u64, 0u64, 0u64, 0x8000000000000000u64] }
-- input { 2f64 -3f64 } output { [0x4000000000000000u64, 0xc008000000000000u64, 0x4000000000000000u64, 0xc000000000000000u64, 0xc000000000000000u64, 0x8000000000000000u64] }
entry folded (x: f64) (y: f64) =
  map f64.to_bits [x + -0, y + 0, x - -0, -x, 0 - x, if x == -0 then x * 1 else 0 * -x]

-- In a pattern it is equal to the other zero, and read before it.
-- ==
-- entry: matched
-- input { [0f32, -0f32, -1f32, 300000000000000000000000000000f32] } output { [1i32, 1i32, 3i32, 4i32] }
entry matched (xs: []f32) : []i32 =
  map (\x -> match x case -0 -> 1 case 0 -> 2 case -1 -> 3 case 300_000_000_000_000_000_000_000_000_000 -> 4 case _ -> 5) xs

-- An integer of any length is a float, rounded once: 2^65 + 2^12 + 1 lies just above the middle of two floats of 64 bits.
-- ==
-- entry: long
-- input { 1f64 }
-- output { 36893488147419111424f64 36893488147419103232f64 1e40f64 -1e40f64 340282346638528859811704183484516925440f32 16777216f32 2050f16 3e45f64 1.6069380442589903e60f64 }
entry long (x: f64) : (f64, f64, f64, f64, f32, f32, f16, f64, f64) =
  (36893488147419107329, 36893488147419107328, x * 10000000000000000000000000000000000000000, -10000000000000000000000000000000000000000,
   340282346638528859811704183484516925440, 16777217, 2050, 3000000000000000000000000000000000000000000000, 0x100000000000000000000000000000000000000000000000000)

-- ==
-- entry: binary
-- input { 0f64 } output { 680564733841876926926749214863536422912f64 }
entry binary (x: f64) =
  x + 0b10_00000000_00000000_00000000_00000000_00000000_00000000_00000000_00000000_00000000_00000000_00000000_00000000_00000000_00000000_00000000_00000000

-- A minus negates a literal of an unsigned type that its suffix states.
-- ==
-- entry: unsigned
-- input { 3u8 } output { 253u8 251u8 4294967295u32 65535u16 1u64 5u8 253u8 }
entry unsigned (x: u8) = (x * -1u8, -(5u8), -1u32, -0x1u16, -18446744073709551615u64, -(-5u8), -(x * 1))

-- ==
-- entry: patterns
-- input { [255u8, 1u8, 0u8] } output { [1i32, 2i32, 3i32] }
entry patterns (xs: []u8) : []i32 = map (\x -> match x case -1u8 -> 1 case -255u8 -> 2 case _ -> 3) xs
