-- Points look at their neighbours, those at the ends of rows at something else: most points of a row are worked on in lanes,
-- those at its ends one by one.

-- Neighbours that are moved into the array.
-- ==
-- entry: clamped
-- input { empty([0]f32) } output { empty([0]f32) }
-- input { [1f32] } output { [3f32] }
-- random input { [2]f32 } auto output
-- random input { [16]f32 } auto output
-- random input { [18]f32 } auto output
-- random input { [35]f32 } auto output
-- random input { [133]f32 } auto output
entry clamped [n] (xs: [n]f32) : [n]f32 =
  tabulate n (\i -> xs[i64.max (i - 1) 0] + xs[i] + xs[i64.min (i + 1) (n - 1)])

-- By any distance, also one at which indices overflow.
-- ==
-- entry: shifted
-- random input { [40]f64 0i64 } auto output
-- random input { [40]f64 3i64 } auto output
-- random input { [40]f64 -7i64 } auto output
-- random input { [40]f64 100i64 } auto output
-- random input { [40]f64 9223372036854775807i64 } auto output
-- random input { [40]f64 -9223372036854775807i64 } auto output
-- random input { [40]f64 -4611686018427387904i64 } auto output
entry shifted [n] (xs: [n]f64) (k: i64) : [n]f64 =
  tabulate n (\i -> xs[i64.max 0 (i64.min (i + k) (n - 1))] - xs[i])

-- Beside the least number, whose opposite there is not.
-- ==
-- entry: least
-- random input { [1]f64 } auto output
-- random input { [40]f64 } auto output
entry least [n] (xs: [n]f64) : [n]f64 =
  tabulate n (\i ->
    let here = if i + i64.lowest < 0 then xs[i] else 0
    let before = xs[i64.max 0 (i64.max i64.lowest (i - 1))]
    let after = if i - 1 > i64.lowest then xs[i64.min (i + 1) (n - 1)] else 0
    in here - before + 2 * after)

-- Neighbours on a torus.
-- ==
-- entry: torus
-- input { [[1f32]] } output { [[5f32]] }
-- random input { [1][40]f32 } auto output
-- random input { [40][1]f32 } auto output
-- random input { [3][2]f32 } auto output
-- random input { [5][37]f32 } auto output
-- random input { [9][64]f32 } auto output
entry torus [h][w] (world: [h][w]f32) : [h][w]f32 =
  tabulate_2d h w (\y x ->
    let up = if y == 0 then h - 1 else y - 1
    let down = if y == h - 1 then 0 else y + 1
    let left = if x == 0 then w - 1 else x - 1
    let right = if x == w - 1 then 0 else x + 1
    in world[y, x] + world[up, x] + world[down, x] + world[y, left] + world[y, right])

-- Nothing happens at the rim.
-- ==
-- entry: rim
-- random input { [1][1]f32 } auto output
-- random input { [2][50]f32 } auto output
-- random input { [6][50]f32 } auto output
-- random input { [7][17]f32 } auto output
entry rim [h][w] (xss: [h][w]f32) : [h][w]f32 =
  tabulate_2d h w (\i j ->
    if i == 0 || j == 0 || i >= h - 1 || j >= w - 1 then xss[i, j]
    else 0.25 * (xss[i - 1, j] + xss[i + 1, j] + xss[i, j - 1] + xss[i, j + 1]))

-- An element is read only by those that want it.
-- ==
-- entry: wanted
-- random input { [50]f32 } auto output
-- random input { [17]f32 } auto output
-- random input { [2]f32 } auto output
entry wanted [n] (xs: [n]f32) : [n]f32 =
  tabulate n (\i ->
    let left = xs[if i == 0 then n - 1 else i - 1]
    let right = xs[if i == n - 1 then 0 else i + 1]
    in if left < right then xs[i] * 2 else right)

-- One array behind another, and one point left out in the middle.
-- ==
-- entry: two
-- random input { [20]f32 [45]f32 30i64 } auto output
-- random input { [0]f32 [45]f32 0i64 } auto output
-- random input { [45]f32 [0]f32 44i64 } auto output
-- random input { [64]f32 [64]f32 -1i64 } auto output
entry two [n][m] (xs: [n]f32) (ys: [m]f32) (k: i64) : [n + m]f32 =
  tabulate (n + m) (\i ->
    let z = if i < n then xs[i] else ys[i - n]
    in if i == k then 0 else z + 1)

-- Outside of the array: by one at the end, or by any distance.
-- ==
-- entry: beyond
-- input { [1f32, 2f32, 3f32] } error: Index \[3\] out of bounds for array of shape \[3\]
-- random input { [100]f32 } error: Index \[100\] out of bounds for array of shape \[100\]
entry beyond [n] (xs: [n]f32) : [n]f32 = tabulate n (\i -> xs[i + 1] * 2)

-- ==
-- entry: from
-- random input { [100]f32 [80]f32 20i64 } auto output
-- random input { [100]f32 [81]f32 20i64 } error: Index \[100\] out of bounds
-- random input { [100]f32 [81]f32 -1i64 } error: Index \[-1\] out of bounds
-- random input { [100]f32 [81]f32 9223372036854775807i64 } error: out of bounds
-- random input { [100]f32 [0]f32 -1i64 } auto output
entry from [n][m] (xs: [n]f32) (ys: [m]f32) (k: i64) : [m]f32 =
  tabulate m (\i -> xs[i + k] * ys[i])

-- Elements that are bytes.
-- ==
-- entry: bytes
-- random input { [300]u8 } auto output
-- random input { [31]u8 } auto output
entry bytes [n] (xs: [n]u8) : [n]u8 =
  tabulate n (\i ->
    let left = xs[i64.max (i - 1) 0]
    let right = xs[i64.min (i + 1) (n - 1)]
    in if u8.max left right > xs[i] then u8.max left right - xs[i] else left ^ right)

-- Bytes are added up in integers that are wider, and the living are chosen by masks of bytes.
-- ==
-- entry: cheapest
-- random input { [3][77]u8 } auto output
-- random input { [2][16]u8 } auto output
entry cheapest [n][m] (costs: [n][m]u8) : [m]i32 =
  loop best = replicate m 0i32 for i < n do
    tabulate m (\j ->
      let left = best[i64.max (j - 1) 0]
      let right = best[i64.min (j + 1) (m - 1)]
      in i32.u8 costs[i, j] + i32.min best[j] (i32.min left right))

-- ==
-- entry: lives
-- random input { [90]u8 } auto output
-- random input { [33]u8 } auto output
entry lives [n] (world: [n]u8) : [n]u8 =
  tabulate n (\x ->
    let left = if x == 0 then n - 1 else x - 1
    let right = if x == n - 1 then 0 else x + 1
    let around = (world[left] & 3) + (world[right] & 3)
    in u8.bool (around == 3 || (around == 2 && world[x] & 1 == 1)))
