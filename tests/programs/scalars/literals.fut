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
