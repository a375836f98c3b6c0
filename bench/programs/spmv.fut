-- A sparse matrix times a vector, with rows of any lengths and with explicit offsets (Streaming Irregular Arrays, section 7.1).
-- `arrc-bench --sparse` measures both (docs/performance.md).
-- ==
-- entry: rows offsets
-- input { [2i64, 0i64, 1i64] [0, 1, 1] [1.0, 2.0, 3.0] [0i64, 2i64, 2i64, 3i64] [10.0, 100.0] } output { [210.0, 0.0, 300.0] }
-- input { [0i64, 1i64] [2] [1.0] [0i64, 0i64, 1i64] [10.0, 100.0] } error: Index \[2\] out of bounds

entry rows [n] [k] (matrix: [n][..](i32, f64)) (_offsets: []i64) (x: [k]f64) : [n]f64 =
  map (\row -> f64.sum (map (\(j, a) -> a * x[j]) row)) matrix

entry offsets [n] [m] [k] (_lengths: [n]i64) (js: [m]i32) (as: [m]f64) (offsets: []i64) (x: [k]f64) : [n]f64 =
  map (\i -> f64.sum (map (\e -> as[e] * x[js[e]]) (offsets[i]..<offsets[i + 1]))) (iota n)
