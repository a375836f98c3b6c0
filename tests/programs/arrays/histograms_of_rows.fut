-- Histograms of all elements of rows, one after another, whose rows choose the bins; and of points that divide their number themselves.
-- ==
-- entry: rows
-- input { 3i64 [[1i32, 2i32], [3i32, 4i32], [5i32, 6i32], [7i32, 8i32]] [2i64, 0i64, 2i64, 5i64] }
-- output { [[3i32, 4i32], [0i32, 0i32], [6i32, 8i32]] }
-- random input { 5i64 [700][33]i32 [700]i64 } auto output
-- random input { 5i64 [0][33]i32 [0]i64 } auto output
-- random input { 5i64 [40][0]i32 [40]i64 } auto output
entry rows [n][d] (k: i64) (xss: [n][d]i32) (member: [n]i64): [k][d]i32 =
  let bin (c: i64) = if c < 0 then (-c) % k else if c < 5 then c else c % k
  in reduce_by_index_2d (replicate k (replicate d 0)) (+) 0
       (flatten (map (\c -> map (\j -> (c, j)) (iota d)) (map bin member)))
       (flatten (map2 (\c xs -> map (\x -> if c > 3 then 0 else x) xs) member xss))

-- ==
-- entry: divided
-- input { 20i64 3i64 } auto output
-- input { 100001i64 7i64 } auto output
-- input { 100001i64 1i64 } auto output
-- input { 1000i64 5000i64 } auto output
-- input { 20i64 -3i64 } auto output
-- input { 0i64 0i64 } output { [0i32, 0i32, 0i32, 0i32, 0i32, 0i32, 0i32] }
-- input { 5i64 0i64 } error: ivi
entry divided (n: i64) (m: i64): [7]i32 =
  reduce_by_index (replicate 7 0) (+) 0
    (map (\f -> (f / m + 3 * (f % m)) % 8) (iota n))
    (map (\f -> i32.i64 (f % 100)) (iota n))

-- Rows of floats, in lanes. Those of bins that there are not are left out.
-- ==
-- entry: sums
-- random input { 5i64 [700][16]f32 [700]u8 } auto output
-- random input { 5i64 [700][33]f32 [700]u8 } auto output
-- random input { 9i64 [70][5]f32 [70]u8 } auto output
-- random input { 3i64 [0][16]f32 [0]u8 } auto output
-- random input { 3i64 [10][0]f32 [10]u8 } auto output
entry sums [n][d] (k: i64) (xss: [n][d]f32) (member: [n]u8): [k][d]f32 =
  reduce_by_index_2d (replicate k (replicate d 0)) (+) 0
    (flatten (map (\c -> map (\j -> (i64.u8 c % (k + 1) - i64.bool (c > 250), j)) (iota d)) member))
    (flatten xss)

-- ==
-- entry: least
-- random input { 5i64 [300][40]i16 [300]i64 } auto output
entry least [n][d] (k: i64) (xss: [n][d]i16) (member: [n]i64): [k][d]i16 =
  reduce_by_index_2d (replicate k (replicate d i16.highest)) i16.min i16.highest
    (flatten (map (\c -> map (\j -> (c % k, j)) (iota d)) member))
    (flatten (map (map (+ 1)) xss))

-- Rows that fill registers, and some columns more; rows of no bucket, and rows that only some of them have.
-- ==
-- entry: wide
-- random input { 5i64 [300]i64 [300][37]f32 } auto output
-- random input { 70000i64 [200]i64 [200][16]f32 } auto output
entry wide [n][d] (k: i64) (member: [n]i64) (points: [n][d]f32) : [k][d]f32 =
  let at = map (\m -> m % (k + 2) - 1) member
  in reduce_by_index_2d (replicate k (replicate d 0f32)) (+) 0 (flatten (map (\c -> map (\j -> (c, j)) (iota d)) at)) (flatten points)

-- ==
-- entry: several
-- random input { 4i64 [100]i64 [100][33]i32 } auto output
entry several [n][d] (k: i64) (member: [n]i64) (points: [n][d]i32) : ([k][d]i32, [k][d]i64) =
  let at = flatten (map (\m -> map (\j -> (m % k, j)) (iota d)) member)
  in (reduce_by_index_2d (replicate k (replicate d 0)) i32.max (-100) at (map (% 1000) (flatten points)),
      reduce_by_index_2d (replicate k (replicate d 1)) (+) 0 at (map i64.i32 (flatten points)))
