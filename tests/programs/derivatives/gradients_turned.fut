-- Gradients that are sums of turned matrices, whose rows are of other lengths than their columns.

def turned [m] [n] (xss: [m][n]f64) (v: [m]f64) : [n]f64 =
  map (\column -> f64.sum (map2 (*) column v)) (transpose xss)

-- Each point multiplies the matrix with a vector of its own.
-- ==
-- entry: products
-- input { [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] [[1.0, 2.0], [3.0, 4.0]] }
-- output { [[4.0, 4.0, 4.0], [6.0, 6.0, 6.0]] }
-- input { [[1.0], [2.0], [3.0]] [[1.0, 2.0, 3.0]] }
-- output { [[1.0], [2.0], [3.0]] }
entry products [k] [m] [n] (xss: [m][n]f64) (vs: [k][m]f64) : [m][n]f64 =
  vjp (\xss -> f64.sum (map (\v -> f64.sum (turned xss v)) vs)) xss 1

-- The same, with vectors that are matrices of one column.
-- ==
-- entry: columns
-- input { [[1.0, 2.0], [4.0, 5.0], [0.0, 1.0]] [[1.0, 2.0], [3.0, 4.0]] }
-- output { [[76.0, 108.0], [220.0, 312.0], [28.0, 40.0]] [[122.0, 164.0], [278.0, 372.0]] }
entry columns [k] [m] [n] (xss: [m][n]f64) (vs: [k][n]f64) =
  let times [a] [b] [c] (xss: [a][b]f64) (yss: [b][c]f64) : [a][c]f64 =
    map (\xs -> map (\ys -> f64.sum (map2 (*) xs ys)) (transpose yss)) xss
  let f (xss, vs) = f64.sum (map (\v -> f64.sum (map (** 2) (flatten (transpose (times xss (transpose [v])))))) vs)
  in vjp f (xss, vs) 1
