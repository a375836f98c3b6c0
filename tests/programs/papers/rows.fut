-- Irregular programs of the papers, on arrays with rows of any lengths: sparse matrix times vector, quicksort of every row,
-- breadth-first search over adjacency lists.

-- A sparse matrix is its rows, each the columns and values that are not zero (Streaming Irregular Arrays, section 7).
def spmv [n] [m] (matrix: [n][..](i64, f64)) (x: [m]f64) : [n]f64 =
  map (\row -> f64.sum (map (\(j, a) -> a * x[j]) row)) matrix

-- ==
-- entry: sparse_matrix
-- input { [2i64, 0i64, 1i64] [0i64, 1i64, 1i64] [1.0, 2.0, 3.0] [10.0, 100.0] } output { [210.0, 0.0, 300.0] }
-- input { [2i64, 0i64, 1i64] [0i64, 1i64, 2i64] [1.0, 2.0, 3.0] [10.0, 100.0] } error: Index \[2\] out of bounds
entry sparse_matrix [n] [k] (matrix: [n][..](i64, f64)) (x: [k]f64) : [n]f64 = spmv matrix x

-- The same with offsets, as one writes it without irregular arrays.
-- ==
-- entry: sparse_offsets
-- input { [0i64, 2i64, 2i64, 3i64] [0i64, 1i64, 1i64] [1.0, 2.0, 3.0] [10.0, 100.0] } output { [210.0, 0.0, 300.0] }
entry sparse_offsets [n] [m] [k] (offs: [n]i64) (js: [m]i64) (as: [m]f64) (x: [k]f64) : [n - 1]f64 =
  map (\i -> f64.sum (map (\e -> as[e] * x[js[e]]) (offs[i]..<offs[i + 1]))) (iota (n - 1))

-- Quicksort (Preserving Regularity, section 5): the parts of all rows are sorted at once.
def quicksort [n] (xs: [n]i32) : []i32 =
  if length xs < 2 then xs
  else let p = xs[length xs / 2]
       let (less, equal, more) = partition2 (< p) (== p) xs
       in quicksort less ++ equal ++ quicksort more

-- ==
-- entry: sort_rows
-- input { [[3, 1, 2], [], [5, 4], [7], [2, 2, 1, 9, 0]] } output { [[1, 2, 3], [], [4, 5], [7], [0, 1, 2, 2, 9]] }
entry sort_rows [n] (xss: [n][..]i32) : [n][..]i32 = map quicksort xss

-- Breadth-first search: a node is as far as the nearest of its neighbours that has been reached, plus one.
-- ==
-- entry: distances
-- input { [[1i64, 2i64], [0i64, 3i64], [0i64], [1i64], []] 0i64 } output { [0i64, 1i64, 1i64, 2i64, -1i64] }
entry distances [n] (graph: [n][..]i64) (from: i64) : [n]i64 =
  let start = map (\i -> if i == from then 0 else -1) (iota n)
  let (ds, _, _) =
    loop (ds, front, d) = (start, [from], 1) while length front > 0 do
      let reached = filter (\i -> ds[i] < 0) (flatten (map (\i -> graph[i]) front))
      let ds = scatter (copy ds) reached (map (const d) reached)
      -- Of those that were reached twice one goes on.
      let last = scatter (replicate n (-1)) reached (indices reached)
      let front = map (.1) (filter (\(at, i) -> last[i] == at) (zip (indices reached) reached))
      in (ds, front, d + 1)
  in ds
