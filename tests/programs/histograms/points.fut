-- Histograms of few buckets of what points of nests of maps compute with many operations, as rows of any length have them.

def place (x: f64) : i64 = i64.f64 (x * 8)

-- How many bounds are above; one counter of 32 bits.
def above (bounds: [20]f64) (x: f64) : i64 = i64.i32 (i32.sum (map (\b -> i32.bool (x < b)) bounds))

def bounds : [20]f64 = tabulate 20 (\i -> f64.i64 (i * i) / 40)

def xs (n: i64) : [n]f64 = tabulate n (\i -> f64.i64 ((i * 37) % 101) / 101)

-- ==
-- entry: pairs
-- input { 1i64 0i64 5i64 } auto output
-- input { 1i64 3i64 0i64 } auto output
-- input { 2i64 3i64 1i64 } auto output
-- input { 2i64 30i64 7i64 } auto output
-- input { 1i64 5i64 64i64 } auto output
-- input { 3i64 17i64 65i64 } auto output
-- input { 2i64 40i64 333i64 } auto output
entry pairs (m: i64) (n: i64) (k: i64) : [21]i32 =
  let (as, bs) = (xs n, tabulate_2d m k (\i j -> f64.i64 ((i * 7 + j) % 13) / 13))
  let is = tabulate_3d m n k (\s i j -> above bounds (as[i] * bs[s, j] + as[i] + bs[s, j]))
  in hist (+) 0 21 (flatten_3d is) (replicate (m * n * k) 1)

-- Rows that are cut at their own numbers: what is on one side has no bucket, or one after all.
-- ==
-- entry: triangles
-- input { 2i64 0i64 } auto output
-- input { 2i64 1i64 } auto output
-- input { 2i64 31i64 } auto output
-- input { 2i64 150i64 } auto output
entry triangles (m: i64) (n: i64) : ([21]i32, [21]i32, [21]i32, [21]i32) =
  let as = tabulate_2d m n (\i j -> f64.i64 ((i * 7 + j * 3) % 29) / 29)
  let count f = hist (+) 0 21 (flatten_3d (tabulate_3d m n n f)) (replicate (m * n * n) 1)
  let at s i j = above bounds (as[s, i] + as[s, j])
  in (count (\s i j -> if i < j then at s i j else -1),
      count (\s i j -> if j < i then at s i j else 21),
      count (\s i j -> if i <= j then at s i j else 3),
      count (\s i j -> if i + 2 < j then at s i j else if i == j then 0 else -1))

-- Counters that begin with something, that overflow, and of which the loop's number of steps is not known.
-- ==
-- entry: counters
-- input { 77i64 20i32 } auto output
-- input { 1000i64 3i32 } auto output
entry counters (n: i64) (steps: i32) : ([9]i64, [n]i32) =
  let f (first: i32) x =
    loop c = first for i < 12 do c + i32.bool (f64.i64 i / 12 < x)
  let g x = loop c = 5i32 for i < steps do c + i32.bool (x < f64.i32 i)
  let is = tabulate_2d n 3 (\i j -> let x = f64.i64 ((i * 3 + j) % 40) / 40 in i64.i32 (f 2147483640 x) % 9)
  in (hist (+) 0 9 (flatten is) (replicate (n * 3) 2),
      tabulate n (\i -> g (f64.i64 (i % 50))))

-- Values of other types that points compute as well, and sums of floats, of which none is rounded since they are in parts where there are many points.

-- ==
-- entry: values
-- input { 0i64 4i64 } auto output
-- input { 3i64 1i64 } auto output
-- input { 20i64 70i64 } auto output
-- input { 301i64 33i64 } auto output
entry values (n: i64) (d: i64) : ([10]f32, [10]u8, [10]i64, [10](i16, f64)) =
  let as = xs n
  let bs = xs d
  let at 't (f: f64 -> f64 -> t) : [n * d]t = flatten (tabulate_2d n d (\i j -> f as[i] bs[j]))
  let long x y = let (a, b) = loop (a, b) = (x, y) for _i < 5 do (a * b + 0.25, b * 0.75 + a * 0.125) in a + b
  let bucket x y = place (long x y)
  in (reduce_by_index (replicate 10 0) (+) 0 (at bucket) (at (\x y -> f32.i64 (place (8 * long y x)) / 64)),
      reduce_by_index (replicate 10 0) u8.max 0 (at bucket) (at (\x y -> u8.i64 (place (long x y) + 1))),
      reduce_by_index (replicate 10 0) (+) 0 (at bucket) (at (\x y -> place (long x y + long y x))),
      reduce_by_index (replicate 10 (0, 0)) (\(a, x) (b, y) -> (a + b, f64.max x y)) (0, 0) (at bucket)
                      (at (\x y -> (i16.i64 (place (long x y)), long y x))))

-- ==
-- entry: indices
-- input { 60i64 9i64 60i64 } auto output
-- input { 60i64 9i64 59i64 } error: out of bounds
entry indices (n: i64) (d: i64) (m: i64) : [21]i32 =
  let as = xs m
  let is = tabulate_2d n d (\i j -> above bounds (as[i] + as[(i * j) % n]))
  in hist (+) 0 21 (flatten is) (replicate (n * d) 1)

-- Short points, and rows of rows that are all the same.
-- ==
-- entry: short
-- input { 5i64 6i64 7i64 } auto output
-- input { 50i64 6i64 1i64 } auto output
entry short (m: i64) (n: i64) (k: i64) : ([21]i32, [21]i32) =
  let is = tabulate_3d m n k (\s i j -> s + i * j - 3)
  let js = map (\i -> replicate n (replicate k (i % 23))) (iota m)
  in (hist (+) 0 21 (flatten_3d is) (replicate (m * n * k) 1), hist (+) 0 21 (flatten_3d js) (replicate (m * n * k) 1))
