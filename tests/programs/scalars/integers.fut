-- Integers wrap; division rounds down with / and % and to zero with // and %%.
-- ==
-- entry: divide
-- input { 7 2 } output { 3 1 3 1 }
-- input { -7 2 } output { -4 1 -3 -1 }
-- input { 7 -2 } output { -4 -1 -3 1 }
-- input { -7 -2 } output { 3 -1 3 -1 }
-- input { -2147483648 -1 } output { -2147483648 0 -2147483648 0 }
-- input { 1 0 } error: division by zero
entry divide (x: i32) (y: i32) = (x / y, x % y, x // y, x %% y)

-- ==
-- entry: narrow
-- input { 300i64 } output { 44i8 44u8 300i16 }
-- input { -1i64 } output { -1i8 255u8 -1i16 }
entry narrow (x: i64) = (i8.i64 x, u8.i64 x, i16.i64 x)

-- ==
-- entry: wrap
-- input { 127i8 255u8 9223372036854775807i64 } output { -128i8 0u8 -9223372036854775808i64 }
entry wrap (a: i8) (b: u8) (c: i64) = (a + 1, b + 1, c + 1)

-- ==
-- entry: power
-- input { 3i32 4i32 } output { 81i32 }
-- input { 2i32 40i32 } output { 0i32 }
-- input { 5i32 0i32 } output { 1i32 }
entry power (x: i32) (y: i32) = x ** y

-- ==
-- entry: bits
-- input { 0xF0u8 0x3Cu8 } output { 0x30u8 0xFCu8 0xCCu8 0x0Fu8 0x3Cu8 0x0Fu8 }
entry bits (a: u8) (b: u8) = (a & b, a | b, a ^ b, !a, a >> 2, a >> 4)

-- ==
-- entry: shifts
-- input { -16i32 2i32 } output { -4i32 -64i32 }
entry shifts (a: i32) (n: i32) = (a >> n, a << n)

-- ==
-- entry: counts
-- input { 0x0Fi32 } output { 4i32 28i32 0i32 }
-- input { 0i32 } output { 0i32 32i32 32i32 }
entry counts (x: i32) = (i32.popc x, i32.clz x, i32.ctz x)

-- ==
-- entry: signs
-- input { -5i32 } output { 5i32 -1i32 }
-- input { 0i32 } output { 0i32 0i32 }
entry signs (x: i32) = (i32.abs x, i32.sgn x)

-- ==
-- entry: order
-- input { 3u8 250u8 } output { true false true false true 3u8 250u8 }
entry order (a: u8) (b: u8) = (a < b, a > b, a <= b, a >= b, a != b, u8.min a b, u8.max a b)
