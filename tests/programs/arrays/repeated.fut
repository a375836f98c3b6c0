-- Rows that repeat one array take no memory for each of them: what reads them reads that array. What is written to, is copied.

-- The second takes 160 GB if each row is there.
-- ==
-- entry: sums
-- input { 3000i64 3000i64 } output { 13495500000i64 }
-- input { 0i64 5i64 } output { 0i64 }
-- input { 5i64 0i64 } output { 0i64 }
entry sums (n: i64) (m: i64) = i64.sum (map i64.sum (replicate n (iota m)))

-- ==
-- entry: beside
-- input { 100000i64 200000i64 } output { 4999950000i64 }
-- input { 3i64 2i64 } output { 3i64 }
entry beside (n: i64) (m: i64) =
  let rows = replicate n (map (* 2) (iota m))
  in i64.sum (map2 (\row i -> row[i % m] / 2 + i64.bool (i >= m) * m) rows (iota n))

-- ==
-- entry: parts
-- input { 1000000i64 [1i32, 2, 3] } output { 3i32 [1i32, 2i32, 3i32] [2i32, 3i32] [6i32, 6i32] 2i32 }
entry parts [m] (n: i64) (xs: [m]i32) =
  let rows = replicate n xs
  let deep = replicate n (replicate n xs)
  in (rows[n - 1, 2], rows[n / 2], rows[0, 1:], map i32.sum rows[5:7], deep[3, 4, 1])

-- ==
-- entry: flat
-- input { 1000i64 [1i32, 2, 3] } output { 6000i32 [1i32, 2i32] [1i32, 3i32, 6i32, 7i32, 9i32, 12i32] [2000i32, 1000i32] 3i32 }
-- input { 2i64 [5i32, 7, 9] } output { 42i32 [5i32, 7i32] [5i32, 12i32, 21i32, 26i32, 33i32, 42i32] [0i32, 6i32] 9i32 }
entry flat (n: i64) (xs: [3]i32) =
  let all = flatten (replicate n xs)
  let small = map (\x -> if x < 3 then 0i64 else 1) all
  in (i32.sum all, all[n / n * 3:5], scan (+) 0 (take 6 all),
      reduce_by_index (replicate 2 0) (+) 0 small (map (const 1) all), all[n * 3 - 1])

-- ==
-- entry: flat_rows
-- input { 3i64 [[1i32, 2], [3, 4]] } output { [3i32, 7i32, 3i32, 7i32, 3i32, 7i32] 30i32 }
-- input { 0i64 [[1i32, 2], [3, 4]] } output { empty([0]i32) 0i32 }
entry flat_rows [m] (n: i64) (xss: [m][2]i32) =
  let all = replicate n xss
  in (map i32.sum (flatten all), i32.sum (flatten (flatten all)))

-- ==
-- entry: chosen
-- input { true 1000000i64 [1i64, 2] [3i64, 4] } output { 3000000i64 }
-- input { false 1000000i64 [1i64, 2] [3i64, 4] } output { 7000000i64 }
entry chosen (c: bool) (n: i64) (xs: [2]i64) (ys: [2]i64) =
  i64.sum (map i64.sum (if c then replicate n xs else replicate n ys))

-- Each row is written to on its own.
-- ==
-- entry: written
-- input { 3i64 [7i64, 8, 9] } output { [[0i64, 8i64, 9i64], [1i64, 8i64, 9i64], [2i64, 8i64, 9i64]] [7i64, 8i64, 9i64] [[7i64, 8i64, 9i64], [7i64, 5i64, 9i64], [7i64, 8i64, 9i64]] }
entry written [m] (n: i64) (xs: [m]i64) =
  let own = map2 (\row i -> copy row with [0] = i) (replicate n xs) (iota n)
  let one = replicate n xs with [1, 1] = 5
  in (own, xs, one)

-- ==
-- entry: in_place
-- input { 3i64 [7i64, 8, 9] } output { [[0i64, 8i64, 9i64], [1i64, 8i64, 9i64], [2i64, 8i64, 9i64]] }
def set [m] (row: *[m]i64) (i: i64) : *[m]i64 = row with [0] = i
entry in_place [m] (n: i64) (xs: [m]i64) =
  let rows = replicate n xs
  in loop rows for i < n do rows with [i] = set (copy rows[i]) i

-- The array is written to after it was repeated.
-- ==
-- entry: after
-- input { 2i64 [7i64, 8] } output { [[7i64, 8i64], [7i64, 8i64]] [0i64, 8i64] 30i64 }
entry after [m] (n: i64) (xs: *[m]i64) =
  let rows = replicate n xs
  let sum = i64.sum (map i64.sum rows)
  let xs[0] = 0
  in (rows, xs, sum)

-- ==
-- entry: turned
-- input { 3i64 [1i32, 2] } output { [[1i32, 1i32, 1i32], [2i32, 2i32, 2i32]] [3i32, 6i32] }
entry turned [m] (n: i64) (xs: [m]i32) =
  let columns = transpose (replicate n xs)
  in (columns, map i32.sum columns)

-- ==
-- entry: nested
-- input { [1i64, 2, 3] } output { [[6i64, 6i64], [12i64, 12i64], [18i64, 18i64]] 41i64 }
entry nested [n] (xs: [n]i64) =
  (map (\x -> map (\row -> x * i64.sum row) (replicate 2 xs)) xs,
   loop s = 0 for row in replicate 7 xs do s + row[s % n] + i64.sum row / 2 + 1)

-- What is the same for all elements is computed once, and not at all if there are none.
-- ==
-- entry: once
-- input { 0i64 0i64 } output { 0i64 }
-- input { 1000000i64 7i64 } output { 14000000i64 }
-- input { 1i64 0i64 } error: division by zero
entry once (n: i64) (k: i64) = i64.sum (map (\_ -> 100 / k) (iota n))

-- ==
-- entry: once_row
-- input { 2i64 [3i64, 1, 2] 3i64 } output { [[3i64, 4i64, 6i64], [3i64, 4i64, 6i64]] }
-- input { 0i64 [3i64, 1, 2] 9i64 } output { empty([0][3]i64) }
-- input { 1i64 [3i64, 1, 2] 9i64 } error: out of bounds
entry once_row (n: i64) (xs: [3]i64) (k: i64) = map (\_ -> scan (+) 0 (xs[:k] :> [3]i64)) (iota n)

-- ==
-- entry: kept
-- input { 4i64 [1i64, 2] } output { [[1i64, 2i64], [1i64, 2i64]] [[1i64, 2i64], [0i64, 0i64], [1i64, 2i64]] [[1i64, 2i64], [2i64, 4i64], [3i64, 6i64], [4i64, 8i64]] }
entry kept [m] (n: i64) (xs: [m]i64) =
  let rows = replicate n xs
  in (map (.0) (filter (\(_, i) -> i % 2 == 0) (zip rows (iota n))),
      scatter (replicate 3 (replicate m 0)) [0, 2, 7, -1] (rows :> [4][m]i64),
      scan (map2 (+)) (replicate m 0) rows)
