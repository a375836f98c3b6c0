-- Loops of the host over small arrays: with all guards true one kernel executes all iterations.

-- ==
-- entry: relaxed
-- input { [3i32, 1i32, 4i32, 1i32, 5i32, 9i32] 7i32 } auto output
-- count *=0: map 1
-- input { empty([0]i32) 7i32 } auto output
-- input { [3i32] 0i32 } auto output
entry relaxed [n] (xs: [n]i32) (steps: i32) : [n]i32 =
  loop xs for s < steps do
    map (\j -> (xs[i64.max 0 (j - 1)] + xs[i64.min (n - 1) (j + 1)]) / 2 + xs[j] % 7 + s) (iota n)

-- Reductions, scans and scatters, and numbers that go on to the next step.
-- ==
-- entry: mixed
-- input { [3i64, 1i64, 4i64, 1i64, 5i64, 9i64, 2i64, 6i64] 5i64 } auto output
-- input { [3i64] 3i64 } auto output
entry mixed [n] (xs: [n]i64) (steps: i64) : ([n]i64, i64) =
  loop (xs: [n]i64, c) = (copy xs, 1) for _i < steps do
    let s = i64.sum xs + c
    let ys = scan (+) 0 (map (% 101) xs)
    let zs = scatter (copy xs) (map (\j -> (j + s) % n) (iota n)) (map (+ s % 13) ys)
    in (map2 (\z y -> (z + y) % 1009) zs ys, s % 97)

-- A loop that ends by what it computes, in a loop of the host.
-- ==
-- entry: converges
-- input { [30i64, 1i64, 4i64, 100i64] 3i64 } auto output
-- input { [0i64] 1i64 } auto output
entry converges [n] (xs: [n]i64) (rounds: i64) : ([n]i64, i64) =
  loop (xs: [n]i64, t) = (copy xs, 0) for _r < rounds do
    let (ys, k) =
      loop (xs: [n]i64, k) = (xs, 0) while i64.maximum xs > 0 && k < 50 do
        (map (\j -> (xs[j] + xs[(j + 1) % n]) / 3) (iota n), k + 1)
    in (map (+ (k + 1)) ys, t + k)

-- Two dimensions: more than has room is executed operator by operator.
-- ==
-- entry: grid
-- input { 9i64 12i64 4i64 } auto output
-- input { 200i64 300i64 2i64 } auto output
-- input { 0i64 5i64 2i64 } auto output
entry grid (h: i64) (w: i64) (steps: i64) : [h][w]i32 =
  loop a = tabulate_2d h w (\i j -> i32.i64 ((i * 17 + j * 7) % 101)) for _i < steps do
    tabulate_2d h w (\i j ->
      let at i j = a[i64.max 0 (i64.min (h - 1) i), i64.max 0 (i64.min (w - 1) j)]
      in (at (i - 1) j + at (i + 1) j + at i (j - 1) + at i (j + 1) + 4 * at i j) / 8)

-- Checks inside fail where they would.
-- ==
-- entry: checked
-- input { [2i64, 0i64, 1i64] 2i64 } auto output
-- input { [2i64, 0i64, 5i64] 4i64 } error: out of bounds
entry checked [n] (xs: [n]i64) (steps: i64) : [n]i64 =
  loop xs = copy xs for _i < steps do map (\x -> xs[x]) xs

-- Both arrays are consumed in every step.
-- ==
-- entry: twice
-- input { [5i64, 3i64, 8i64, 1i64] 3i64 } auto output
-- count *=0: map 1 copy 1
entry twice [n] (xs: *[n]i64) (k: i64) : ([n]i64, [n]i64) =
  loop (a: *[n]i64, b: *[n]i64) = (copy xs, copy xs) for i < k do
    let a = scatter a (map (\j -> (j + i) % n) (iota n)) (map (+ i) b)
    let b = scatter b (map (\j -> (j + a[0]) % n) (iota n)) (map (* 2) a)
    in (a, b)

-- The parameter of the entry point is consumed.
-- ==
-- entry: unique
-- input { [5i64, 3i64, 8i64, 1i64] 3i64 } auto output
entry unique [n] (xs: *[n]i64) (k: i64) : *[n]i64 =
  loop (xs: *[n]i64) = xs for i < k do scatter xs (map (\x -> (x * 3 + i) % n) (iota n)) (map (+ i) (iota n))

-- Elements one after the other beside operators, and an operator that not every step has.
-- ==
-- entry: elements
-- input { [5f32, 3f32, 8f32, 1f32] 3i64 } auto output
-- count *=0: map 1 copy 1
-- input { empty([0]f32) 0i64 } auto output
entry elements [n] (xs: [n]f32) (k: i64) : ([n]f32, f32) =
  loop (ys: *[n]f32, best) = (copy xs, -1f32) for i < k do
    let j = i % n
    let ys = ys with [j] = ys[j] * 2 + best
    let (at, most) = reduce (\(i, x) (j, y) -> if x >= y then (i, x) else (j, y)) (0, f32.lowest) (zip (iota n) ys)
    let ys = ys with [at] = most / 4
    let ys = if most > 6 then map (\y -> y - 1) ys else ys
    in (ys, most)

-- Elimination: columns and rows are updated by sums of products of the parts before them.
-- ==
-- entry: eliminated
-- input { [[4i64, 1i64, 2i64], [1i64, 5i64, 3i64], [2i64, 1i64, 7i64]] } auto output
-- count *=0: map 1 copy 1
-- input { [[4i64]] } auto output
-- input { empty([0][0]i64) } auto output
entry eliminated [n] (m: [n][n]i64) : [n][n]i64 =
  loop (m: *[n][n]i64) = copy m for k < n - 1 do
    let column = map (\i -> if i > k then (m[i, k] * 7 - i64.sum (map2 (*) m[i, :k] m[:k, k])) / m[k, k] else m[i, k]) (iota n)
    let m[:, k] = column
    let row = map (\j -> if j > k then m[k + 1, j] - i64.sum (map2 (*) m[k + 1, :k + 1] m[:k + 1, j]) else m[k + 1, j]) (iota n)
    let m[k + 1] = row
    in m

-- Loops in loops with another number of steps each time, and small types.
-- ==
-- entry: triangle
-- input { [3u8, 200u8, 7u8, 9u8, 250u8] } auto output
-- count *=0: map 1
entry triangle [n] (xs: [n]u8) : ([n]u8, bool, i16) =
  loop (xs: [n]u8, odd, c) = (xs, false, 0i16) for i < n do
    let (ys, d) =
      loop (ys: [n]u8, d) = (xs, 0i16) for j < i do
        (map (\k -> ys[(k + j) % n] + u8.i64 (k * i)) (iota n), d + i16.u8 (u8.maximum ys))
    in (ys, odd != (u8.sum ys % 2 == 1), c + d)

-- Histograms, scans of a transposed array, and arrays that are put together.
-- ==
-- entry: counted
-- input { [[1i64, 20i64, 300i64], [4i64, 5i64, 6i64]] 3i64 } auto output
entry counted [n] [m] (xss: [n][m]i64) (k: i64) : ([n][m]i64, [4]i64) =
  loop (xss: [n][m]i64, cs) = (xss, replicate 4 0) for i < k do
    let cs = reduce_by_index (copy cs) (+) 0 (map (% 4) (flatten xss)) (map (+ i) (flatten xss))
    let s = scan (+) 0 (flatten (transpose xss))
    in (map2 (\xs i -> map2 (\x j -> (x + s[i * m + j] + cs[j % 4]) % 97) xs (iota m)) xss (iota n), cs)

-- ==
-- entry: together
-- input { [1i64, 2i64, 3i64, 4i64] 5i64 } auto output
entry together [n] (xs: [n]i64) (k: i64) : [n]i64 =
  loop xs for i < k do (rotate 1 (xs[n / 2:] ++ xs[:n / 2]) :> [n]i64) |> map (+ i)

-- Lengths that a step computes: there is no such version.
-- ==
-- entry: inside
-- input { [1i64, 2i64, 3i64, 9i64] 4i64 } auto output
entry inside [n] (xs: [n]i64) (k: i64) : [n]i64 =
  loop xs for i < k do
    let m = i64.max 0 (i64.sum xs % 5)
    let ys = map (\j -> j * i) (iota m)
    in map (\x -> x + i64.sum ys % 3) xs

-- What a loop of the host shows is shown.
-- ==
-- entry: shown
-- input { [1i64, 2i64] } output { [4i64, 5i64] }
-- count *=0: map 3
entry shown (xs: []i64) = loop xs for _i < 3i64 do #[trace] map (+ 1) xs
