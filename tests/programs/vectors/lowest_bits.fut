-- Choices by the lowest bits of integers that were shifted by the counter of a loop, in rows that are summed and in rows that are not.

-- ==
-- entry: words
-- input { [1u32, 2u32, 4u32] empty([0]u32) } auto output
-- random input { [3]u32 [7]u32 } auto output
-- random input { [5]u32 [100]u32 } auto output
entry words [m] (v: [m]u32) (xs: []u32) =
  let set (x: u32) = loop s = 0u32 for k < m do if (x >> u32.i64 k) & 1 == 1 then s ^ v[k] else s + 1
  let clear (x: u32) = loop s = 0u32 for k < m do if (x >> u32.i64 k) & 1 == 0 then s ^ (v[k] << u32.i64 k) else s + 3
  in (map set xs, map clear xs, f64.sum (map (\x -> f64.u32 (set x & 1023)) xs))

-- ==
-- entry: signed
-- random input { 31i64 [100]i32 } auto output
-- random input { 40i64 [33]i32 } auto output
entry signed (m: i64) (xs: []i32) =
  let f (x: i32) = loop s = 0i32 for k < m do if (x >> i32.i64 k) & 1 != 0 then s ^ (x >> i32.i64 k) else s - (x << i32.i64 (k + 1))
  in map f xs

-- ==
-- entry: narrow
-- random input { 15i64 [200]u16 } auto output
entry narrow (m: i64) (xs: []u16) =
  let f (x: u16) = loop s = 0u16 for k < m do if (x >> u16.i64 k) & 1 == 1 then s ^ (x << u16.i64 k) else s + u16.i64 k
  in map f xs

-- ==
-- entry: bytes
-- random input { 5i64 [200]u8 } auto output
entry bytes (m: i64) (xs: []u8) =
  let f (x: u8) = loop s = x for k < m do if s & 1 == 1 then s + x + u8.i64 k else s ^ u8.i64 (k + 99)
  in map f xs

-- ==
-- entry: long
-- random input { 63i64 [100]u64 } auto output
entry long (m: i64) (xs: []u64) =
  let f (x: u64) = loop s = 0u64 for k < m do if (x >> u64.i64 k) & 1 == 1 then s ^ (x << u64.i64 k) else s + u64.i64 k
  in map f xs

-- Sums of rows of all lengths around those of groups: sums of whole numbers are exact.
-- ==
-- entry: lengths
-- input { 70i64 } auto output
entry lengths (most: i64) =
  let sum (n: i64) = f64.sum (map (\i -> let u = u32.i64 i * 40503 in f64.u32 (u & 1023) + f64.i64 i) (iota n))
  in loop all = replicate most 0f64 for n < most do all with [n] = sum n
