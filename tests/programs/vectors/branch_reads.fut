-- Choices between lanes whose sides read what is the same for all lanes. A side that no lane takes is not read: the element may not
-- be there.
-- ==
-- entry: bits
-- input { 0i64 [1u32, 2u32, 4u32] } output { empty([0]u32) }
-- input { 9i64 [1u32, 6u32, 4u32] } output { [0u32, 1u32, 6u32, 7u32, 4u32, 5u32, 2u32, 3u32, 0u32] }
entry bits [m] (n: i64) (v: [m]u32) : [n]u32 =
  map (\i -> let i = u32.i64 i
             in loop x = 0u32 for k < m do
                  if (i >> u32.i64 k) & 1 == 1 then x ^ v[k] else x)
      (iota n)

-- ==
-- entry: missing
-- input { 40i64 [10i32, 20i32] 1i64 } output { 830i32 }
-- input { 40i64 [10i32, 20i32] 5i64 } error: out of bounds
-- input { 0i64 [10i32, 20i32] 5i64 } output { 0i32 }
-- input { 40i64 [10i32, 20i32] 100i64 } output { 820i32 }
entry missing [m] (n: i64) (v: [m]i32) (at: i64) : i32 =
  i32.sum (map (\i -> if at < 50 && i % 4 == 3 then v[at] + 3 * i32.i64 (i % 2) else i32.i64 i + 1) (iota n))

-- ==
-- entry: both
-- input { 37i64 [1f32, 2f32, 3f32] [5f32, 7f32, 11f32] } output { 219.75f32 }
entry both [m] (n: i64) (a: [m]f32) (b: [m]f32) : f32 =
  f32.sum (map (\i -> loop s = 0f32 for k < m do if f32.i64 i * 0.5 > s then s + a[k] else s + b[k] * 0.25) (iota n))

-- The index that a side computes differs from lane to lane.
-- ==
-- entry: inside
-- input { [0f32, 5f32, 3f32, 6f32, 4f32, 2f32, 9f32, 1f32, 0f32, 5f32, 3f32, 6f32, 4f32, 2f32, 9f32, 1f32] [1f32, 2f32, 4f32, 8f32] } output { 42f32 }
entry inside (ys: [16]f32) (t: [4]f32) : f32 =
  f32.sum (map2 (\i y -> if y > 3f32 then t[(i + 1) % 4] else y) (iota 16) ys)
