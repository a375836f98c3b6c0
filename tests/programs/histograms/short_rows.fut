-- Histograms of rows of few and of many values, some of which have no bucket.

def label (k: i64) (i: i64) : i64 = (i * 7919) % (k + 3) - 1

-- ==
-- entry: sums
-- input { 5i64 0i64 3i64 } auto output
-- input { 5i64 1i64 3i64 } auto output
-- input { 5i64 100i64 0i64 } auto output
-- input { 5i64 20000i64 1i64 } auto output
-- input { 5i64 20000i64 2i64 } auto output
-- input { 5i64 20000i64 3i64 } auto output
-- input { 5i64 20000i64 4i64 } auto output
-- input { 5i64 20000i64 5i64 } auto output
-- input { 1i64 7001i64 7i64 } auto output
-- input { 700i64 9000i64 15i64 } auto output
-- input { 9i64 3000i64 16i64 } auto output
-- input { 9i64 3000i64 17i64 } auto output
-- input { 9i64 300i64 45i64 } auto output
-- input { 0i64 300i64 3i64 } auto output
entry sums (k: i64) (n: i64) (d: i64) : [k][d]f32 =
  let xss = tabulate_2d n d (\i j -> f32.i64 ((i * 31 + j * 7) % 57))
  in reduce_by_index (replicate k (replicate d 1)) (map2 (+)) (replicate d 0) (map (label k) (iota n)) xss

-- Numbers that are not rounded, into many buckets, of which threads may each have a part.
-- ==
-- entry: many
-- input { 40000i64 30000i64 3i64 } auto output
-- input { 30i64 30000i64 2i64 } auto output
entry many (k: i64) (n: i64) (d: i64) : [k][d]i64 =
  let xss = tabulate_2d n d (\i j -> i * 31 + j)
  in reduce_by_index (replicate k (replicate d 0)) (map2 i64.max) (replicate d i64.lowest) (map (label k) (iota n)) xss

-- Two at once, and pairs.
-- ==
-- entry: both
-- input { 11i64 6000i64 4i64 } auto output
entry both (k: i64) (n: i64) (d: i64) : ([k][d]f64, [k][d](i32, f32)) =
  let is = map (label k) (iota n)
  let xss = tabulate_2d n d (\i j -> f64.i64 ((i * 31 + j * 7) % 57))
  let ys = tabulate_2d n d (\i j -> (i32.i64 (i % 9), f32.i64 (j + i % 5)))
  in (reduce_by_index (replicate k (replicate d 0)) (map2 (+)) (replicate d 0) is xss,
      reduce_by_index (replicate k (replicate d (0, 0))) (map2 (\(a, x) (b, y) -> (a + b, f32.max x y))) (replicate d (0, 0)) is ys)

-- Planes.
-- ==
-- entry: planes
-- input { 6i64 900i64 3i64 4i64 } auto output
entry planes (k: i64) (n: i64) (d: i64) (e: i64) : [k][d][e]f32 =
  let xsss = tabulate_3d n d e (\h i j -> f32.i64 ((h * 31 + i * 7 + j) % 57))
  in reduce_by_index (replicate k (replicate d (replicate e 0))) (map2 (map2 (+))) (replicate d (replicate e 0)) (map (label k) (iota n)) xsss

-- Labels that are looked up, with a check.
-- ==
-- entry: looked_up
-- input { 6i64 9000i64 3i64 9000i64 } auto output
-- input { 6i64 9000i64 3i64 8000i64 } error: out of bounds
entry looked_up (k: i64) (n: i64) (d: i64) (m: i64) : [k][d]f32 =
  let is = tabulate n (\i -> if i < m then (i * 17) % n else n)
  let labels = map (label k) (iota n)
  let xss = tabulate_2d n d (\i j -> f32.i64 ((i * 31 + j * 7) % 57))
  in reduce_by_index (replicate k (replicate d 0)) (map2 (+)) (replicate d 0) (map (\i -> #[noinline] labels[i]) is) xss

-- Labels of fewer bits, which two histograms widen.
entry labelled (k: i64) (n: i64) (d: i64) : (i64, [n][d]f32, [n]i32) =
  (k, tabulate_2d n d (\i j -> f32.i64 ((i * 31 + j * 7) % 57)), map (\i -> i32.i64 (label k i)) (iota n))

-- ==
-- entry: means
-- script input { labelled 5i64 20000i64 3i64 } auto output
-- script input { labelled 4i64 20000i64 2i64 } auto output
-- script input { labelled 3i64 0i64 2i64 } auto output
entry means [n] [d] (k: i64) (xss: [n][d]f32) (labels: [n]i32) : [k][d]f32 =
  let labels = map i64.i32 labels
  let sums = reduce_by_index (replicate k (replicate d 0)) (map2 (+)) (replicate d 0) labels xss
  let counts = hist (+) 0 k labels (replicate n 1i32)
  in map2 (\sum count -> map (/ f32.i32 (i32.max count 1)) sum) sums counts

-- Sums of many rows of floats, which go to tables in turn; what is summed is rounded nowhere, as its parts must not show.
-- ==
-- entry: summed
-- input { 5i64 4095i64 3i64 } auto output
-- input { 5i64 40000i64 2i64 } auto output
-- input { 5i64 40001i64 3i64 } auto output
-- input { 5i64 40003i64 4i64 } auto output
-- input { 43i64 40003i64 3i64 } auto output
-- input { 44i64 40003i64 3i64 } auto output
-- input { 0i64 40003i64 3i64 } auto output
entry summed (k: i64) (n: i64) (d: i64) : ([k][d]f32, [k][d]f64) =
  let is = map (label k) (iota n)
  let xss = tabulate_2d n d (\i j -> f32.i64 ((i * 31 + j * 7) % 57))
  let yss = tabulate_2d n d (\i j -> f64.i64 ((i * 37 + j * 11) % 59))
  in (reduce_by_index (replicate k (replicate d 1)) (map2 (+)) (replicate d 0) is xss,
      reduce_by_index (replicate k (replicate d 2)) (map2 (+)) (replicate d 0) is yss)

-- The same of elements that do not lie side by side, of what is computed of them, and of buckets that overlap.
-- ==
-- entry: apart
-- input { 6i64 40001i64 3i64 } auto output
-- input { 6i64 40002i64 4i64 } auto output
entry apart (k: i64) (n: i64) (d: i64) : ([k][d]f32, [k][d]f32, [k]f32) =
  let is = map (label k) (iota n)
  let xss = #[opaque] tabulate_2d d n (\j i -> f32.i64 ((i * 31 + j * 7) % 57))
  let yss = #[opaque] tabulate_2d n d (\i j -> f32.i64 ((i * 37 + j * 11) % 59))
  let places = flatten (tabulate_2d n d (\i j -> is[i] + j))
  in (reduce_by_index (replicate k (replicate d 0)) (map2 (+)) (replicate d 0) is (transpose xss),
      reduce_by_index (replicate k (replicate d 0)) (map2 (+)) (replicate d 0) is (map (map (* 2)) yss),
      reduce_by_index (replicate k 0) (+) 0 places (flatten yss))

-- Nothing is added to negative zeros.
-- ==
-- entry: zeros
-- input { 6i64 40001i64 3i64 } auto output
entry zeros (k: i64) (n: i64) (d: i64) : [k][d]u32 =
  let is = map (\i -> if i % 3 == 0 then -1 else 2 * (i % 2)) (iota n)
  let xss = tabulate_2d n d (\_ _ -> -0f32)
  in map (map f32.to_bits) (reduce_by_index (replicate k (replicate d (-0f32))) (map2 (+)) (replicate d (-0f32)) is xss)
