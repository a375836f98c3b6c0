-- Loops inside of maps, that changed places with them: what a point hands on from step to step no other point reads. On CPUs all steps of
-- some points come before those of others where all of it is more than caches hold.

-- Rows that are smoothed and summed up in turns.
-- ==
-- entry: rows
-- input { 5i64 40i64 9i64 } auto output
-- input { 3i64 1i64 4i64 } auto output
-- input { 0i64 40i64 9i64 } auto output
-- input { 5i64 40i64 0i64 } auto output
entry rows (n: i64) (m: i64) (steps: i64) : [n][m]i32 =
  let start = tabulate_2d n m (\i j -> i32.i64 ((i * 37 + j * 11) % 101))
  in map (\row ->
       loop row for s < steps do
         let near = tabulate m (\j -> row[i64.max 0 (j - 1)] + row[i64.min (m - 1) (j + 1)] - i32.i64 s)
         in map2 (\a b -> a * 3 - b) near row) start

-- Planes with a sequence of their own in each row, the other way round in every second step, and two arrays that change places.
-- ==
-- entry: planes
-- input { 4i64 6i64 7i64 5i64 } auto output
-- input { 9i64 3i64 33i64 8i64 } auto output
entry planes (n: i64) (m: i64) (k: i64) (steps: i64) : ([n][m][k]f64, [n][m][k]f64) =
  let start = tabulate_3d n m k (\i j l -> f64.i64 ((i * 37 + j * 11 + l * 5) % 101))
  in unzip (map (\plane ->
       loop (a, b) = (plane, map (map (/ 2)) plane) for s < steps do
         let sums = map (\row -> loop x = copy row for l in 1..<k do x with [l] = x[l] * 0.5 + x[l - 1]) a
         let other = if s % 2 == 0 then sums else map reverse sums
         in (b, map2 (map2 (\x y -> x - 0.25 * y)) other b)) start)

-- Loops in loops, and a number beside the array.
-- ==
-- entry: inner
-- input { 6i64 20i64 4i64 } auto output
entry inner (n: i64) (m: i64) (steps: i64) : [n][m]i64 =
  let start = tabulate_2d n m (\i j -> i * j)
  in map (\row ->
       (loop (row, k) = (row, 1) for s < steps do
          let row = loop row for t < k do map2 (\x y -> x ^ (y + t)) row (reverse row)
          in (map (+ s) row, k % 3 + 1)).0) start

-- A step of a point reads what others have: points are together in every step.
-- ==
-- entry: together
-- input { 6i64 20i64 4i64 } auto output
entry together (n: i64) (m: i64) (steps: i64) : [n][m]i32 =
  loop xss = tabulate_2d n m (\i j -> i32.i64 (i * j)) for _s < steps do
    tabulate_2d n m (\i j -> xss[(i + 1) % n, j] * 3 - xss[i, (j + 1) % m])

-- The third step fails at the fourth point.
-- ==
-- entry: late
-- input { 4i64 20i64 } error: Index
-- input { 2i64 20i64 } auto output
entry late (steps: i64) (m: i64) : [6][m]i64 =
  map (\i ->
    loop row = iota m for s < steps do
      let moved = map (\j -> row[if i == 3 && s == 2 then j + 1 else m - 1 - j]) (iota m)
      in map (+ i) moved) (iota 6)
