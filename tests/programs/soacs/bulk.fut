-- Histograms, scatter, filter, partition.
-- ==
-- entry: histogram
-- input { [0i64, 2i64, 2i64, 5i64, -1i64] [1, 2, 3, 4, 5] } output { [1, 0, 5] }
-- input { empty([0]i64) empty([0]i32) } output { [0, 0, 0] }
entry histogram [n] (is: [n]i64) (xs: [n]i32) = reduce_by_index (replicate 3 0) (+) 0 is xs

-- ==
-- entry: onto
-- input { [10, 20] [0i64, 1i64, 0i64] [1, 2, 3] } output { [14, 22] }
entry onto [n][m] (dest: *[n]i32) (is: [m]i64) (xs: [m]i32) = reduce_by_index dest (+) 0 is xs

-- ==
-- entry: grid
-- input { [0i64, 1i64, 1i64, 7i64] [1i64, 0i64, 0i64, 0i64] } output { [[0, 1], [2, 0]] }
entry grid [n] (is: [n]i64) (js: [n]i64) =
  reduce_by_index_2d (replicate 2 (replicate 2 0i32)) (+) 0 (zip is js) (replicate n 1)

-- ==
-- entry: write
-- input { [0, 0, 0, 0] [3i64, 0i64, 9i64] [7, 8, 9] } output { [8, 0, 0, 7] }
entry write [n][m] (dest: *[n]i32) (is: [m]i64) (xs: [m]i32) = scatter dest is xs

-- ==
-- entry: keep
-- input { [1, 2, 3, 4, 5, 6] } output { [2, 4, 6] }
-- input { [1, 3] } output { empty([0]i32) }
-- input { empty([0]i32) } output { empty([0]i32) }
entry keep (xs: []i32) = filter (\x -> x % 2 == 0) xs

-- ==
-- entry: part
-- input { [1, 2, 3, 4, 5, 6] } output { [2, 4, 6] [1, 3, 5] }
entry part (xs: []i32) = partition (\x -> x % 2 == 0) xs

-- ==
-- entry: largest
-- input { [0i64, 1i64, 0i64] [3, 4, 9] } output { [9, 4, -1] }
entry largest [n] (is: [n]i64) (xs: [n]i32) = hist i32.max (-1) 3 is xs
