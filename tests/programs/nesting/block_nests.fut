-- Matrices of which a block of threads works on each: nests of maps, and operators whose elements are sequential code with operators. With
-- all guards true there is one kernel for all matrices, and none for each operator.

-- Powers of matrices: products in a loop.
-- ==
-- entry: power
-- input { 5i64 8i64 3i64 } auto output
-- count *=0: map 1
-- input { 0i64 8i64 3i64 } auto output
-- input { 3i64 1i64 2i64 } auto output
-- input { 2i64 0i64 2i64 } auto output
-- input { 3i64 17i64 0i64 } auto output
-- input { 2i64 33i64 4i64 } auto output
entry power (n: i64) (m: i64) (steps: i64) : [n][m][m]i64 =
  let as = #[opaque] (tabulate_3d n m m (\i j k -> (i * 31 + j * 17 + k * 7) % 11))
  in map (\a ->
       let product (x: [m][m]i64) (y: [m][m]i64) : [m][m]i64 =
         map (\row -> map (\j -> i64.sum (map2 (\e i -> e * y[i, j] % 1009) row (iota m))) (iota m)) x
       in loop b = copy a for _i < steps do map (map (% 1009)) (product b a))
     as

-- Two dimensions of a stencil, step after step.
-- ==
-- entry: jacobi
-- input { 4i64 9i64 12i64 5i64 } auto output
-- count *=0: map 1
-- input { 2i64 1i64 1i64 2i64 } auto output
-- input { 2i64 30i64 40i64 3i64 } auto output
-- input { 1i64 80i64 90i64 2i64 } auto output
entry jacobi (n: i64) (h: i64) (w: i64) (steps: i64) : [n][h][w]i32 =
  let as = #[opaque] (tabulate_3d n h w (\i j k -> i32.i64 ((i * 31 + j * 17 + k * 7) % 101)))
  in map (\a ->
       loop a = copy a for _i < steps do
         tabulate_2d h w (\i j ->
           let at i j = a[i64.max 0 (i64.min (h - 1) i), i64.max 0 (i64.min (w - 1) j)]
           in (at (i - 1) j + at (i + 1) j + at i (j - 1) + at i (j + 1) + 4 * at i j) / 8))
     as

-- A decomposition in place: each step updates what is below and right of the pivot.
-- ==
-- entry: decomposed
-- input { 3i64 5i64 } auto output
-- input { 3i64 16i64 } auto output
-- input { 2i64 32i64 } auto output
entry decomposed (n: i64) (m: i64) : [n][m][m]i64 =
  let as = #[opaque] (tabulate_3d n m m (\i j k -> if j == k then 7 + i else (i * 31 + j * 17 + k * 7) % 11))
  in map (\a ->
       loop a = copy a for k < m do
         let pivot = a[k, k]
         let column = map (\i -> if i > k then a[i, k] * 5 % 97 + pivot % 2 else 0) (iota m)
         in tabulate_2d m m (\i j -> if i > k && j >= k then (a[i, j] * 3 - column[i] * a[k, j]) % 9973 else a[i, j]))
     as

-- Sums of the rows and columns of each matrix, and their order.
-- ==
-- entry: margins
-- input { 4i64 6i64 7i64 } auto output
-- input { 2i64 40i64 3i64 } auto output
-- input { 2i64 0i64 3i64 } auto output
entry margins (n: i64) (h: i64) (w: i64) : [n](i64, i64, [h]i64) =
  let as = #[opaque] (tabulate_3d n h w (\i j k -> (i * 31 + j * 17 + k * 7) % 101))
  in map (\a ->
       let rows = map i64.sum a
       let columns = map (\j -> i64.sum (map (\row -> row[j]) a)) (iota w)
       let ranks = map (\r -> i64.sum (map (\s -> i64.bool (s < r)) rows)) rows
       in (i64.maximum rows, i64.maximum columns, ranks))
     as

-- Sequential code with arrays beside operators: a loop that updates elements one by one, and a conditional that chooses an array.
-- ==
-- entry: sequential
-- input { 6i64 9i64 } auto output
-- input { 2i64 70i64 } auto output
entry sequential (n: i64) (m: i64) : [n][m]i64 =
  let xss = #[opaque] (tabulate_2d n m (\i j -> (i * 17 + j * 31) % 101))
  in map (\xs ->
       let total = i64.sum xs
       let ys = loop ys = replicate m 0 for i < m do
                  ys with [(i * 7 + total) % m] = ys[(i * 7 + total) % m] + xs[i]
       let zs = if total % 2 == 0 then scan (+) 0 ys else map (* 2) ys
       in map2 (+) zs ys)
     xss

-- Temporary arrays whose live ranges are disjoint share memory: a block has room for the four of 1000
-- elements that are live at once, and not for the six that are made; of 1900, for none.
-- ==
-- entry: turns
-- input { 3i64 700i64 } auto output
-- input { 3i64 1000i64 } auto output
-- input { 2i64 1900i64 } auto output
entry turns (n: i64) (m: i64) : [n][m]i64 =
  let xss = #[opaque] (tabulate_2d n m (\i j -> (i * 17 + j * 31) % 101))
  in map (\xs ->
       loop xs = copy xs for k < 3 do
         let a = scan (+) 0 xs
         let b = map (\i -> a[m - 1 - i] % 1009 + k) (iota m)
         let c = scan i64.max 0 b
         let d = map (\i -> c[(i * 3 + 1) % m] + b[i]) (iota m)
         let e = scan (+) 0 (map (+ k) d)
         in map (\i -> e[(i + k) % m] % 1013) (iota m))
     xss
