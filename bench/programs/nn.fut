-- The records nearest to a place, one after another: each is the least of all that are left.
def nearer (i: i64, a: f32) (j: i64, b: f32) : (i64, f32) =
  if a < b || (a == b && i < j) then (i, a) else (j, b)

-- Places of the `k` nearest in the order of their distances, and these.
-- ==
-- input { 3i64 0f32 0f32 [3f32, 0f32, 5f32, 1f32] [4f32, 2f32, 12f32, 0f32] } output { [3i64, 1i64, 0i64] [1f32, 2f32, 5f32] }
-- compiled random input { 100i64 f32 f32 [855280]f32 [855280]f32 }
def main [n] (k: i64) (x: f32) (y: f32) (xs: [n]f32) (ys: [n]f32) : ([k]i64, [k]f32) =
  let distance a b = f32.sqrt ((a - x) * (a - x) + (b - y) * (b - y))
  let (places, found, _) =
    loop (places, found, distances) = (replicate k 0, replicate k 0, map2 distance xs ys) for i < k do
      let (j, d) = reduce_comm nearer (n, f32.inf) (zip (iota n) distances)
      in (places with [i] = j, found with [i] = d, distances with [j] = f32.inf)
  in (places, found)
