-- Eight programs whose memory is looked at: docs/memory.md says how much each should take at most, and a test measures it.

-- A stencil over time (HotSpot, thesis 10.1): the grids of two steps change places.
-- ==
-- entry: hotspot
-- input { 2i32 [[1f32, 2f32], [3f32, 4f32]] [[0f32, 0f32], [0f32, 8f32]] } auto output
entry hotspot [n] [m] (steps: i32) (temp: [n][m]f32) (power: [n][m]f32) : [n][m]f32 =
  loop temp for _i < steps do
    tabulate_2d n m (\r c ->
      let here = temp[r, c]
      let at i j = if i >= 0 && i < n && j >= 0 && j < m then temp[i, j] else here
      let around = at (r - 1) c + at (r + 1) c + at r (c - 1) + at r (c + 1)
      in here + 0.125 * (power[r, c] + around - 4 * here))

-- Lloyd's iteration (k-means): the nearest centre of each point, and the means of the points of each centre.
-- ==
-- entry: kmeans
-- input { 2i64 3i32 [[0f32, 0f32], [10f32, 10f32], [0f32, 2f32], [10f32, 12f32]] }
-- output { [[0f32, 1f32], [10f32, 11f32]] [0i64, 1i64, 0i64, 1i64] }
entry kmeans [n] [d] (k: i64) (rounds: i32) (points: [n][d]f32) : ([k][d]f32, [n]i64) =
  let first = assert (k <= n) (map (\i -> points[i]) (iota k))
  let distance (a: [d]f32) (b: [d]f32) = f32.sum (map2 (\x y -> (x - y) * (x - y)) a b)
  let better (i, x) (j, y) : (i64, f32) = if y < x then (j, y) else (i, x)
  in loop (centres, _member) = (first, replicate n 0) for _i < rounds do
       let nearest p = (loop best = (0, f32.inf) for i < k do better best (i, distance centres[i] p)).0
       let member = map nearest points
       let counts = reduce_by_index (replicate k 0f32) (+) 0 member (replicate n 1)
       let indices = map (\i -> (member[i / d], i % d)) (iota (n * d))
       let sums = reduce_by_index_2d (replicate k (replicate d 0)) (+) 0 indices (flatten points)
       in (map2 (\sum count -> map (/ f32.max 1 count) sum) sums counts, member)

-- Tridiagonal systems, one for each row (LocVolCalib, thesis 10.1): elimination forwards, substitution backwards.
-- ==
-- entry: tridag
-- input { [[0f64, 1f64]] [[2f64, 3f64]] [[1f64, 0f64]] [[4f64, 7f64]] } output { [[1f64, 2f64]] }
entry tridag [n] [m] (ass: [n][m]f64) (bss: [n][m]f64) (css: [n][m]f64) (yss: [n][m]f64) : [n][m]f64 =
  let solve (as: [m]f64) (bs: [m]f64) (cs: [m]f64) (ys: [m]f64) =
    let (us, vs) =
      loop (us, vs) = (copy bs, copy ys) for j < m - 1 do
        let f = as[j + 1] / us[j]
        let us[j + 1] = us[j + 1] - f * cs[j]
        let vs[j + 1] = vs[j + 1] - f * vs[j]
        in (us, vs)
    let vs[m - 1] = vs[m - 1] / us[m - 1]
    in loop vs for k < m - 1 do
         let j = m - 2 - k
         let vs[j] = (vs[j] - cs[j] * vs[j + 1]) / us[j]
         in vs
  in map4 solve ass bss css yss

-- ==
-- entry: matmul
-- input { [[1f32, 2f32], [3f32, 4f32]] [[5f32, 6f32], [7f32, 8f32]] } output { [[19f32, 22f32], [43f32, 50f32]] }
entry matmul [n] [m] [p] (xss: [n][m]f32) (yss: [m][p]f32) : [n][p]f32 =
  map (\xs -> map (\ys -> f32.sum (map2 (*) xs ys)) (transpose yss)) xss

-- Sums of beginnings, of which some are kept, worked on and summed again.
-- ==
-- entry: pipeline
-- input { [1, 2, 3, 4, 5] } output { [3, 9, 24] }
entry pipeline [n] (xs: [n]i32) : []i32 =
  xs |> scan (+) 0 |> filter (\x -> x % 3 == 0) |> scan (+) 0 |> map (\x -> x)

-- A sparse matrix times a vector.
-- ==
-- entry: sparse
-- input { [0i64, 2i64, 3i64] [0i64, 1i64, 1i64] [1f64, 2f64, 3f64] [10f64, 100f64] } output { [210f64, 300f64] }
entry sparse [r] [n] (starts: [r]i64) (columns: [n]i64) (entries: [n]f64) (xs: []f64) : []f64 =
  map (\i -> let (a, b) = (starts[i], starts[i + 1])
             in f64.sum (map2 (\c e -> e * xs[c]) columns[a:b] entries[a:b]))
      (iota (r - 1))

-- Quicksort: each step divides all parts around their first elements, until the elements are in order.
-- ==
-- entry: quicksort
-- input { [3, 1, 2, 3, 0] } output { [0, 1, 2, 3, 3] }
entry quicksort [k] (xs: [k]i32) : [k]i32 =
  let divide (ys: [k]i32) (heads: [k]bool) =
    let latest (a, f) (b, g) = (if g then b else a, f || g)
    let (pivots, _) = unzip (scan latest (0, false) (zip ys heads))
    let starts = scan i64.max 0 (map2 (\h i -> if h then i else 0) heads (iota k))
    let below = map2 (\y p -> i64.bool (y < p)) ys pivots
    let same = map2 (\y p -> i64.bool (y == p)) ys pivots
    let (lows, sames) = (scan (+) 0 below, scan (+) 0 same)
    let lasts = map (\i -> if i + 1 < k && !heads[i + 1] then k else i) (iota k)
    let ends = reverse (scan i64.min i64.highest (reverse lasts))
    let before s = if s == 0 then (0, 0) else (lows[s - 1], sames[s - 1])
    let place i =
      let s = starts[i]
      let (low0, same0) = before s
      let (low, eq) = (lows[i] - low0, sames[i] - same0)
      let (all_low, all_eq) = (lows[ends[i]] - low0, sames[ends[i]] - same0)
      in if ys[i] < pivots[i] then s + low - 1
         else if ys[i] == pivots[i] then s + all_low + eq - 1
         else s + all_low + all_eq + (i - s - low - eq)
    let moved = scatter (replicate k 0i32) (map place (iota k)) ys
    let bounds i =
      let s = starts[i]
      let (low0, same0) = before s
      let middle = s + lows[ends[i]] - low0
      in if heads[i] then (middle, middle + sames[ends[i]] - same0) else (-1, -1)
    let (middles, ups) = unzip (map bounds (iota k))
    let marked = scatter (scatter (copy heads) middles (replicate k true)) ups (replicate k true)
    in (moved, marked)
  let sorted ys = and (map (\i -> i == 0 || ys[i - 1] <= ys[i]) (iota k))
  in (loop (ys, heads) = (copy xs, map (== 0) (iota k)) while !(sorted ys) do divide ys heads).0

-- Bodies that attract each other, all pairs.
-- ==
-- entry: nbody
-- input { 1i32 [0f32, 1f32] [0f32, 0f32] [0f32, 0f32] [1f32, 1f32] } auto output
entry nbody [n] (steps: i32) (xs: [n]f32) (ys: [n]f32) (zs: [n]f32) (ms: [n]f32) : [n](f32, f32, f32) =
  let pull (ax, ay, az) ((bx, by, bz), m) =
    let (dx, dy, dz) = (bx - ax, by - ay, bz - az)
    let r2 = dx * dx + dy * dy + dz * dz + 0.01
    let f = m / (r2 * f32.sqrt r2)
    in (f * dx, f * dy, f * dz)
  let add (a, b, c) (d, e, f) : (f32, f32, f32) = (a + d, b + e, c + f)
  let (places, _) =
    loop (places, speeds) = (zip3 xs ys zs, replicate n (0, 0, 0)) for _i < steps do
      let forces = map (\a -> reduce add (0, 0, 0) (map (pull a) (zip places ms))) places
      let speeds = map2 (\v (x, y, z) -> add v (0.01 * x, 0.01 * y, 0.01 * z)) speeds forces
      in (map2 (\p (x, y, z) -> add p (0.01 * x, 0.01 * y, 0.01 * z)) places speeds, speeds)
  in places
