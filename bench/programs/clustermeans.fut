-- The means of the points of each cluster: a histogram of rows (the thesis, section 2.5.2 and table 1).
import "random"

-- Points, and to which of `k` clusters each belongs.
-- ==
-- entry: generate
-- input { 2i32 3i64 2i64 } auto output
entry generate (k: i32) (n: i64) (d: i64) : ([n][d]f32, [n]i32) =
  (tabulate_2d n d (\i j -> unit 1 (i * d + j)),
   tabulate n (\i -> i32.u32 (number 2 i % u32.i32 k)))

-- Clusters without points have zeros.
-- ==
-- input { 3i64 [[1f32, 2f32], [4f32, 8f32], [3f32, 4f32]] [2i32, 0i32, 2i32] }
-- output { [[4f32, 8f32], [0f32, 0f32], [2f32, 3f32]] }
-- compiled script input { let (points, members) = generate 5i32 10000000i64 3i64 in (5i64, points, members) }
def main [n] [d] (k: i64) (points: [n][d]f32) (members: [n]i32) : [k][d]f32 =
  let clusters = map i64.i32 members
  let sums = reduce_by_index (replicate k (replicate d 0)) (map2 (+)) (replicate d 0) clusters points
  let counts = hist (+) 0 k clusters (replicate n 1i32)
  in map2 (\sum count -> map (/ f32.i32 (i32.max count 1)) sum) sums counts
