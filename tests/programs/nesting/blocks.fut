-- Rows whose operators hand on what they make: a block of threads, or a warp, may work on each.

-- A soft maximum.
-- ==
-- entry: soft_maximum
-- input { 3i64 7i64 } auto output
-- input { 0i64 5i64 } auto output
-- input { 3i64 0i64 } auto output
-- input { 9i64 33i64 } auto output
-- input { 2i64 300i64 } auto output
-- input { 2i64 3000i64 } auto output
-- input { 2i64 6000i64 } auto output
entry soft_maximum (n: i64) (m: i64) : [n][m]f64 =
  let xss = #[opaque] (tabulate_2d n m (\i j -> f64.i64 ((i * 17 + j * 31) % 11)))
  in map (\xs -> let most = f64.maximum xs
                 let es = map (\x -> f64.round (f64.exp (x - most) * 4096)) xs
                 let s = f64.sum es
                 in map (/ s) es)
         xss

-- Scans and reductions whose operators do not commute, in a loop.
-- ==
-- entry: recurrences
-- input { 3i64 1i64 } auto output
-- input { 9i64 40i64 } auto output
-- input { 2i64 700i64 } auto output
def after ((a, b): (i64, i64)) ((c, d): (i64, i64)) : (i64, i64) = (a * c % 100003, (b * c + d) % 100003)

entry recurrences (n: i64) (m: i64) : [n][m]i64 =
  let xss = #[opaque] (tabulate_2d n m (\i j -> (i * 17 + j * 31) % 11))
  in map (\xs -> loop xs = copy xs for k < 3 do
                   let ys = map (.1) (scan after (1, 0) (map (\x -> (x % 7 + k, x)) xs))
                   let (a, b) = reduce after (1, 0) (map (\y -> (y % 5 + 1, y)) ys)
                   in map2 (\x y -> (x + y + a + b) % 1001) xs ys)
         xss

-- Each row goes its own way: by a branch, and as often as it wants.
-- ==
-- entry: own_ways
-- input { 20i64 } auto output
entry own_ways (n: i64) : [n][48]i32 =
  let xss = #[opaque] (tabulate_2d n 48 (\i j -> i32.i64 ((i * 7919 + j * 104729) % 1009)))
  in map (\xs ->
            let s = i32.sum xs
            let ys = if s % 3 == 0 then map (+ s) xs else if s % 3 == 1 then reverse xs else scan (+) 0 xs
            let (zs, _) = loop (zs, steps) = (ys, 0) while i32.maximum zs > 100 && steps < 40 do
                            (map2 (\z y -> z / 2 + y % 3) zs (rotate 1 zs), steps + 1)
            in map2 (+) zs xs)
         xss

-- Rows of several types beside each other, arrays that are put together, and elements that are written.
-- ==
-- entry: mixed
-- input { 11i64 } auto output
entry mixed (n: i64) : ([n][40]i8, [n][80]f32, [n]bool, [n][3]i64) =
  let xss = #[opaque] (tabulate_2d n 40 (\i j -> i8.i64 ((i * 31 + j * 17) % 120)))
  in unzip4 (map (\xs ->
       let bs = map (\x -> x % 2 == 0) xs
       let ys = map2 (\b x -> if b then f32.i8 x else 0.5) bs xs
       let zs = ys ++ map (* 2) (reverse ys) :> [80]f32
       let ws = map2 (\x b -> if b then x else -x) xs bs
       let ws = copy ws with [3] = 77 with [4] = ws[5]
       let vs = map (\w -> i64.i8 w + i64.bool bs[i64.i8 (i8.abs w) % 40]) ws
       in (ws, zs, and bs, [i64.sum vs, i64.maximum vs, vs[7]]))
     xss)

-- What is left of rows is folded.
-- ==
-- entry: folded
-- input { 0i64 30i64 } auto output
-- input { 50i64 30i64 } auto output
entry folded (n: i64) (m: i64) : (i64, [n]i64) =
  let (as, bs) = unzip (map (\i ->
      let xs = map (\j -> (i * 31 + j * 17) % 101) (iota m)
      let ys = scan (+) 0 xs
      let zs = map (\j -> ys[j] * xs[m - 1 - j]) (iota m)
      in (i64.sum zs, i64.maximum zs)) (iota n))
  in (i64.sum as, bs)

-- Points of two dimensions, and elements that are rows.
-- ==
-- entry: deep
-- input { 3i64 4i64 } auto output
entry deep (n: i64) (k: i64) : [n][k][20]i32 =
  let xsss = #[opaque] (tabulate_3d n k 20 (\i j l -> i32.i64 (i * 100 + j * 10 + l)))
  in map (map (\xs ->
       let ps = map (\x -> [x, x + 1, x * 2]) xs
       let s = i32.sum (map (\p -> p[1]) ps)
       in map (\p -> p[0] * p[2] % (s + 1)) ps)) xsss

-- What fails in a row is told once.
-- ==
-- entry: out_of_row
-- input { 4i64 32i64 } output { [528i64, 560i64, 592i64, 624i64] }
-- input { 5i64 32i64 } error: Index \[32\] out of bounds for array of shape \[32\]
-- input { 2i64 400i64 } error: Index \[400\] out of bounds for array of shape \[400\]
entry out_of_row (n: i64) (m: i64) : [n]i64 =
  let far = if n > 4 || m > 32 then 1 else 0
  let xss = #[opaque] (tabulate_2d n m (\i j -> i + j + 1))
  in map (\xs -> let ys = map (\j -> xs[j + (if j == m - 1 then far else 0)]) (iota m)
                 let zs = scan i64.max 0 ys
                 in i64.sum ys + i64.sum (map2 (-) zs ys)) xss
