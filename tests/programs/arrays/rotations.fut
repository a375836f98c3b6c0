-- Rotations and concatenations that operators traverse: nothing is made but what they make of it.

-- ==
-- entry: neighbours
-- input { [3i32, 1i32, 4i32, 1i32, 5i32] } auto output
-- count: map 1
-- input { [3i32] } auto output
-- input { empty([0]i32) } auto output
entry neighbours [n] (xs: [n]i32) : [n]i32 =
  map3 (\l x r -> l + 10 * x + 100 * r) (rotate (-1) xs) xs (rotate 1 xs)

-- Rows are rotated as a whole, and each in itself.
-- ==
-- entry: life
-- input { 6i64 7i64 5i32 } auto output
-- input { 1i64 1i64 2i32 } auto output
-- input { 0i64 3i64 2i32 } auto output
-- input { 40i64 70i64 3i32 } auto output
entry life (n: i64) (m: i64) (steps: i32) : [n][m]i8 =
  let start = tabulate_2d n m (\i j -> i8.bool ((i * 7 + j * 13 + i * j) % 3 == 0))
  let sums (xss: [n][m]i8) =
    let add = map2 (map2 (i8.+))
    let row = add (add (map (rotate (-1)) xss) xss) (map (rotate 1) xss)
    in add (add (rotate (-1) row) row) (rotate 1 row)
  in loop xss = start for _i < steps do
       map2 (map2 (\x s -> i8.bool (s == 3 || x == 1 && s == 4))) xss (sums xss)

-- Borders around a row.
-- ==
-- entry: bordered
-- input { 7i32 [3i32, 1i32, 4i32] 9i32 } auto output
-- input { 7i32 empty([0]i32) 9i32 } auto output
entry bordered [n] (a: i32) (xs: [n]i32) (b: i32) : []i32 =
  map (* 2) ([a] ++ xs ++ [b])

-- What several operators traverse, a reduction and a scan among them, of arrays and of parts of arrays.
-- ==
-- entry: several
-- input { [3i64, 1i64, 4i64, 1i64] [5i64, 9i64] } auto output
-- input { empty([0]i64) [5i64, 9i64] } auto output
-- input { [3i64] empty([0]i64) } auto output
entry several [n] [m] (xs: [n]i64) (ys: [m]i64) : (i64, []i64, []i64, []i64) =
  let zs = xs ++ map (* 2) ys
  let us = zs[n / 2:] ++ zs[:n / 2]
  in (i64.sum (map2 (*) zs us), scan (+) 0 us, filter (> 3) zs, reduce_by_index (replicate 10 0) (+) 0 (map (% 10) us) us)

-- What was concatenated is changed before the concatenation is read, and after.
-- ==
-- entry: changed
-- input { [3i64, 1i64, 4i64, 1i64] } auto output
entry changed [n] (xs: *[n]i64) : ([]i64, []i64) =
  let zs = xs ++ xs
  let ys = xs with [0] = 100
  let us = map (+ 1) zs
  in (us, map (+ 2) (rotate 1 ys))
