-- Ranges over more than half of all 64-bit integers have no length.
-- ==
-- entry: steps
-- input { 1i64 3i64 8i64 }
-- output { [1i64, 3i64, 5i64, 7i64] }
-- input { 8i64 6i64 1i64 }
-- error: Range 8..6..<1 is invalid
-- input { -9223372036854775807i64 1i64 9223372036854775807i64 }
-- error: is invalid
-- input { -2i64 9223372036854775807i64 9223372036854775807i64 }
-- error: is invalid
entry steps (a: i64) (b: i64) (c: i64) = a..b..<c

-- ==
-- entry: all
-- input { 250i64 255i64 }
-- output { [250i64, 251i64, 252i64, 253i64, 254i64, 255i64] }
-- input { -9223372036854775807i64 9223372036854775807i64 }
-- error: is invalid
-- input { 0i64 9223372036854775807i64 }
-- error: is invalid
entry all (a: i64) (b: i64) = a...b

-- ==
-- entry: unsigned
-- input { 7u64 9u64 }
-- output { [7u64, 8u64] }
-- input { 0u64 18446744073709551615u64 }
-- error: is invalid
entry unsigned (a: u64) (b: u64) = a..<b

-- ==
-- entry: downwards
-- input { 3i64 0i64 }
-- output { [3i64, 2i64, 1i64] }
-- input { 9223372036854775807i64 -3i64 }
-- error: is invalid
entry downwards (a: i64) (b: i64) = a..>b

-- ==
-- entry: from_zero
-- input { 2i64 }
-- output { [0i64, 1i64, 2i64] }
-- input { 9223372036854775807i64 }
-- error: is invalid
entry from_zero (n: i64) = 0...n

-- ==
-- entry: small
-- input { -128i8 127i8 }
-- output { 256i64 }
entry small (a: i8) (b: i8) = length (a...b)
