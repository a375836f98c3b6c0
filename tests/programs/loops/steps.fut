-- Loops whose steps read what is near of what the step before wrote. On CPUs several steps are done together where arrays are large.

-- Five points, at edges the nearest ones.
-- ==
-- entry: clamped
-- input { 7i32 9i64 33i64 } auto output
-- input { 1i32 9i64 33i64 } auto output
-- input { 0i32 9i64 33i64 } auto output
-- input { 3i32 0i64 33i64 } auto output
-- input { 20i32 60i64 50i64 } auto output
entry clamped (steps: i32) (n: i64) (m: i64) : [n][m]f32 =
  let step (a: [n][m]f32) =
    tabulate_2d n m (\i j ->
      let north = a[i64.max (i - 1) 0, j]
      let south = a[i64.min (i + 1) (n - 1), j]
      let west = a[i, i64.max (j - 1) 0]
      let east = a[i, i64.min (m - 1) (j + 1)]
      in 0.5 * a[i, j] + 0.125 * (north + south) + 0.1 * west + 0.15 * east)
  in loop a = tabulate_2d n m (\i j -> f32.i64 ((i * 37 + j * 11) % 101)) for _i < steps do step a

-- Two arrays, of which each reads both, a wider window, and the number of the step.
-- ==
-- entry: pair
-- input { 9i64 700i64 } auto output
-- input { 12i64 5000i64 } auto output
entry pair (steps: i64) (n: i64) : ([n]i32, [n]i64) =
  let near (i: i64) = i64.min (n - 1) (i64.max 0 i)
  let step (s: i64) (xs: [n]i32) (ys: [n]i64) =
    unzip (tabulate n (\i ->
      let window = loop sum = 0i64 for k < 5 do sum + ys[near (i + k - 2)]
      in (xs[near (i - 3)] ^ i32.i64 window, window + i64.i32 xs[i] * s)))
  in loop (xs, ys) = (tabulate n (\i -> i32.i64 (i * i)), iota n) for s < steps do step s xs ys

-- Edges by choices, in three dimensions.
-- ==
-- entry: chosen
-- input { 5i32 6i64 7i64 9i64 } auto output
-- input { 9i32 30i64 12i64 20i64 } auto output
entry chosen (steps: i32) (l: i64) (n: i64) (m: i64) : [l][n][m]i32 =
  let step (a: [l][n][m]i32) =
    tabulate_3d l n m (\h i j ->
      let below = if h == 0 then a[h, i, j] else a[h - 1, i, j]
      let above = if h == l - 1 then 1 else a[h + 1, i, j]
      let left = if j > 0 then a[h, i, j - 1] else a[h, i, j]
      in 3 * below - above + left * a[h, i, j])
  in loop a = tabulate_3d l n m (\h i j -> i32.i64 (h + i * j)) for _i < steps do step a

-- What is read is not near: the other end, and what an array says.
-- ==
-- entry: around
-- input { 6i32 3000i64 } auto output
entry around (steps: i32) (n: i64) : [n]i64 =
  loop xs = iota n for _i < steps do
    tabulate n (\i -> xs[(i + n - 1) % n] + 2 * xs[n - 1 - i] + xs[xs[i] % n])

-- A step fails, at one point.
-- ==
-- entry: fails
-- input { 4i64 3000i64 } auto output
-- input { 5i64 3000i64 } error: division
entry fails (steps: i64) (n: i64) : [n]i64 =
  loop xs = iota n for s < steps do
    tabulate n (\i -> xs[i64.max 0 (i - 1)] / (if i == 1700 then 4 - s else 1) + xs[i])

-- Seven points, two rows away, within; what is on the surface stays.
-- ==
-- entry: within
-- input { 3i32 5i64 7i64 9i64 } auto output
-- input { 1i32 5i64 7i64 9i64 } auto output
-- input { 7i32 4i64 31i64 20i64 } auto output
entry within (steps: i32) (l: i64) (n: i64) (m: i64) : [l][n][m]f32 =
  let step (a: [l][n][m]f32) =
    tabulate_3d l n m (\h i j ->
      let here = a[h, i, j]
      in if h == 0 || h == l - 1 || i < 2 || i >= n - 2 || j == 0 || j == m - 1 then here
         else 0.2 * (a[h - 1, i, j] + a[h + 1, i, j] + a[h, i - 2, j] + a[h, i + 2, j])
              + 0.1 * (a[h, i, j - 1] + a[h, i, j + 1]) - 0.1 * here)
  in loop a = tabulate_3d l n m (\h i j -> f32.i64 ((h * 37 + i * 11 + j * 5) % 101)) for _i < steps do step a

-- Planes that have nothing to do with each other.
-- ==
-- entry: sheets
-- input { 3i32 5i64 7i64 9i64 } auto output
-- input { 6i32 4i64 31i64 20i64 } auto output
entry sheets (steps: i32) (l: i64) (n: i64) (m: i64) : [l][n][m]i32 =
  let sheet (a: [n][m]i32) =
    tabulate_2d n m (\i j ->
      a[i64.max (i - 1) 0, j] * 3 + a[i64.min (i + 1) (n - 1), i64.max (j - 1) 0] - a[i, i64.min (j + 1) (m - 1)])
  in loop a = tabulate_3d l n m (\h i j -> i32.i64 (h + i * j)) for _i < steps do map sheet a

def at32 (at: i64) : i32 = i32.i64 (at * 7 % 1013)

-- Neighbours by their numbers: those of the first rows of a plane are in the plane before.
-- ==
-- entry: numbered
-- input { 3i32 5i64 7i64 9i64 } auto output
-- input { 6i32 4i64 31i64 20i64 } auto output
entry numbered (steps: i32) (l: i64) (n: i64) (m: i64) : [l * n * m]i32 =
  let step (a: [l * n * m]i32) =
    flatten_3d (tabulate_3d l n m (\h i j ->
      let at = h * n * m + i * m + j
      let before = if at >= m then a[at - m] else 7
      let behind = if at + m + 1 < l * n * m then a[at + m + 1] else at32 at
      let below = if at >= n * m then a[at - n * m] else 5
      in before + 3 * behind - 5 * below + a[at]))
  in loop a = tabulate (l * n * m) at32 for _i < steps do step a

-- Each step has a row of its own of another array.
-- ==
-- entry: down
-- input { 9i64 700i64 } auto output
-- input { 1i64 700i64 } auto output
-- input { 18i64 5003i64 } auto output
entry down (n: i64) (m: i64) : [m]i32 =
  let costs = tabulate_2d n m (\i j -> u8.i64 ((i * 57 + j * j) % 251))
  let cost i j = i32.u8 costs[i, j]
  in loop best = tabulate m (cost 0) for i in 1..<n do
       tabulate m (\j ->
         let left = best[i64.max (j - 2) 0]
         let right = best[i64.min (j + 1) (m - 1)]
         in cost i j + i32.min best[j] (i32.min left right))

-- How far a point reads is another number in each step.
-- ==
-- entry: farther
-- input { 9i64 700i64 } auto output
-- input { 18i64 5003i64 } auto output
entry farther (steps: i64) (n: i64) : i32 =
  let a = loop a = tabulate n at32 for s < steps do
            tabulate n (\i -> if i + s < n then a[i + s] + 1 else a[i])
  in i32.sum a

-- A step fails where planes are cut.
-- ==
-- entry: breaks
-- input { 4i64 3i64 5i64 9i64 } auto output
-- input { 5i64 3i64 5i64 9i64 } error: division
entry breaks (steps: i64) (l: i64) (n: i64) (m: i64) : [l][n][m]i64 =
  loop a = tabulate_3d l n m (\h i j -> h + i + j) for s < steps do
    tabulate_3d l n m (\h i j ->
      let above = if h > 0 then a[h - 1, i, j] else 0
      let left = if i > 0 then a[h, i - 1, j] else 0
      in (above - left) / (if h == 1 && i == n - 2 && j == 7 then 4 - s else 1) + a[h, i, j])
