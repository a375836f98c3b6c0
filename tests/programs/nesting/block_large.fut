-- Rows that need more shared memory than a kernel has by itself: a launch gives each block what its row needs.

-- ==
-- entry: relaxed
-- input { 3i64 3000i64 2i64 } auto output
-- count *=0: map 1
-- input { 2i64 7000i64 3i64 } auto output
-- input { 2i64 40000i64 1i64 } auto output
-- input { 2i64 5i64 4i64 } auto output
entry relaxed (n: i64) (m: i64) (steps: i64) : [n][m]i32 =
  let xss = #[opaque] (tabulate_2d n m (\i j -> i32.i64 ((i * 31 + j * 17) % 1009)))
  in map (\xs ->
       loop xs = copy xs for _i < steps do
         map (\j -> (xs[i64.max 0 (j - 1)] + xs[i64.min (m - 1) (j + 1)]) / 2 + xs[j] % 7) (iota m))
     xss

-- The same with a length that the program says.
-- ==
-- entry: known
-- input { 3i64 } auto output
-- count *=0: map 1
entry known (n: i64) : [n][6000]i64 =
  let xss = #[opaque] (tabulate_2d n 6000 (\i j -> (i * 31 + j * 17) % 1009))
  in map (\xs -> let ys = scan (+) 0 xs in map (\j -> ys[j] - ys[j / 2]) (iota 6000)) xss
