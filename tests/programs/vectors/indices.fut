-- Indices made floats: small ones in lanes, and those that binary32 and binary64 round.
-- ==
-- entry: singles
-- input { 100i64 0i64 } auto output
-- input { 100i64 -50i64 } auto output
-- input { 100i64 16777200i64 } auto output
-- input { 100i64 1073741800i64 } auto output
-- input { 100i64 -1073741870i64 } auto output
-- input { 100i64 2147483600i64 } auto output
-- input { 100i64 9007199791611855i64 } auto output
-- input { 100i64 -9223372036854775808i64 } auto output
-- input { 100i64 9223372036854775790i64 } auto output
entry singles (n: i64) (from: i64) : [n]f32 =
  map (\i -> 0.5f32 * f32.i64 (i + from) - 1f32) (iota n)

-- ==
-- entry: doubles
-- input { 100i64 0i64 } auto output
-- input { 100i64 -1073741870i64 } auto output
-- input { 100i64 9007199254740950i64 } auto output
-- input { 100i64 -9223372036854775808i64 } auto output
entry doubles (n: i64) (from: i64) : [n]f64 =
  map (\i -> f64.i64 (i + from) / 3f64) (iota n)

-- ==
-- entry: both
-- input { 77i64 1073741800i64 } auto output
entry both (n: i64) (from: i64) : ([n]f32, [n]f64) =
  unzip (map (\i -> let j = 3 * (from + i) in (f32.i64 j + 1, f64.i64 (i + from) * f64.f32 (f32.i64 i))) (iota n))

-- Multiples of indices, of which integers of fewer bits are made in lanes: small ones, some as large as may be, and larger ones.
-- ==
-- entry: multiples
-- input { 100i64 0i64 } auto output
-- input { 133i64 -50i64 } auto output
-- input { 100i64 9223372036854775790i64 } auto output
entry multiples (n: i64) (from: i64) : ([n]u32, [n]u8, [n]i16, [n]i32, [n]i64) =
  unzip5 (map (\i ->
    let a = u32.i64 (104729 * i + from) * 2654435761
    let b = u8.i64 (from - i * 77 - 1)
    let c = i16.i64 (3 * (1048576 * i - from) + 5 * i)
    let d = i32.i64 (1048577 * i + i)
    in (a ^ (a >> 15), b, c, d, 5000 * i - from)) (iota n))
