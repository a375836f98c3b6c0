-- Loops of numbers around kernels, short and long, of which the host may execute the first iterations.

-- ==
-- entry: digits
-- input { 1000i64 } auto output
-- input { 0i64 } auto output
-- input { 1i64 } auto output
entry digits (n: i64) : (i64, []i64) =
  let (_, k) = loop (m, k) = (n, 0) while m > 0 do (m / 10, k + 1)
  in (k, map (* k) (iota (k + 2)))

-- ==
-- entry: long
-- input { 1000i64 } auto output
-- input { 64i64 } auto output
-- input { 65i64 } auto output
-- input { -3i64 } auto output
entry long (n: i64) : (u32, i64, []u32) =
  let s = loop s = 1u32 for i < n do s * 1664525u32 + u32.i64 i
  let (c, _) = loop (c, t) = (0, 1i64) while t < n do (c + 1, t + 1 + t / 50)
  in (s, c, tabulate (c % 7) (\i -> s + u32.i64 i))

-- Counters of other types, and checks that fail late.
-- ==
-- entry: checked
-- input { 3u8 100i32 } auto output
-- input { 200u8 100i32 } error: division by zero
-- input { 70u8 70i32 } auto output
entry checked (n: u8) (m: i32) : i32 =
  loop s = 1i32 for i < n do s + 1000 / (m - i32.u8 i)
