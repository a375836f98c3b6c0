-- Clusters of points after the thesis' k-means (8.4.1, 10.1) and cluster means (2.5.2).

def distance [d] (xs: [d]f32) (ys: [d]f32) : f32 =
  f32.sum (map2 (\x y -> (x - y) * (x - y)) xs ys)

-- The assignment step: the nearest centre of each point, and how many points each centre has. The nearest centres are
-- a result, so that they are one operation, and the histogram of them is another.
-- ==
-- entry: assign
-- input { [[0f32, 0f32], [1f32, 1f32], [9f32, 9f32]] [[0f32, 0f32], [8f32, 8f32]] }
-- output { [0i64, 0i64, 1i64] [2i32, 1i32] }
-- count *=0: map 1 hist 1 fill 1
entry assign [n] [k] [d] (points: [n][d]f32) (centres: [k][d]f32) : ([n]i64, [k]i32) =
  let nearer (i, a) (j, b) = if a < b || (a == b && i < j) then (i, a) else (j, b : f32)
  let nearest p =
    (reduce_comm nearer (-1, f32.inf) (zip (iota k) (map (distance p) centres))).0
  let membership = map nearest points
  in (membership, reduce_by_index (replicate k 0) (+) 0 membership (replicate n 1))

-- Sums and numbers of the points of each cluster: one traversal.
-- ==
-- entry: means
-- input { 2i64 [0i64, 1i64, 0i64] [1f32, 5f32, 3f32] [1f32, 7f32, 1f32] } output { [2f32, 5f32] [1f32, 7f32] }
-- count: map 1 hist 1 fill 3
entry means [n] (k: i64) (membership: [n]i64) (xs: [n]f32) (ys: [n]f32) : ([k]f32, [k]f32) =
  let counts = reduce_by_index (replicate k 0) (+) 0 membership (map (const 1f32) xs)
  let sx = reduce_by_index (replicate k 0) (+) 0 membership xs
  let sy = reduce_by_index (replicate k 0) (+) 0 membership ys
  in (map2 (/) sx counts, map2 (/) sy counts)
