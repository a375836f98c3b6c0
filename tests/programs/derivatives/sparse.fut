-- Jacobians of which it is known where they are not zero.

def chain [n] (xs: [n]f64) : [n]f64 =
  tabulate n (\i -> xs[i] ** 2 - (if i > 0 then xs[i - 1] else 0) * (if i + 1 < n then xs[i + 1] else 1))

def band (n: i64) : ([]i64, []i64) =
  unzip (filter (\(_, j) -> 0 <= j && j < n) (flatten (tabulate_2d n 3 (\i d -> (i, i + d - 1)))))

-- ==
-- entry: colours
-- input { 5i64 [0i64, 1i64, 1i64, 2i64, 3i64, 4i64] [0i64, 0i64, 1i64, 2i64, 3i64, 4i64] } output { 2i64 [0i64, 1i64, 0i64, 0i64, 0i64] }
-- input { 3i64 [0i64, 0i64, 0i64] [0i64, 1i64, 2i64] } output { 3i64 [0i64, 1i64, 2i64] }
-- input { 2i64 empty([0]i64) empty([0]i64) } output { 1i64 [0i64, 0i64] }
-- input { 0i64 empty([0]i64) empty([0]i64) } output { 0i64 empty([0]i64) }
entry colours [k] (n: i64) (rows: [k]i64) (cols: [k]i64) = column_colours n n rows cols

-- ==
-- entry: jacobians
-- input { [1.0, 2.0, 3.0, 4.0, 5.0] } output { 3i64 [2.0, 0.0, -3.0, 4.0, -1.0, -4.0, 6.0, -2.0, -5.0, 8.0, -3.0, -1.0, 10.0] true }
-- input { [2.0] } output { 1i64 [4.0] true }
-- input { empty([0]f64) } output { 0i64 empty([0]f64) true }
entry jacobians [n] (xs: [n]f64) =
  let (rows, cols) = band n
  let dense = transpose (jmp chain xs (tabulate_2d n n (\i j -> f64.bool (i == j))))
  let by_columns = sparse_jacobian f64.bool chain xs rows cols
  let by_rows = sparse_jacobian_by_rows f64.bool chain xs rows cols
  let right = and (map4 (\i j a b -> dense[i, j] == a && a == b) rows cols by_columns by_rows)
  in ((column_colours n n rows cols).0, by_columns, right)

-- A Hessian is the Jacobian of a gradient.
-- ==
-- entry: hessian
-- input { [1f32, 2f32, 3f32] } output { [12f32, 1f32, 1f32, 24f32, 1f32, 1f32, 36f32] [13f32, 26f32, 37f32] }
entry hessian [n] (xs: [n]f32) =
  let f (xs: [n]f32) = f32.sum (map (\x -> 2 * x ** 3) xs) + f32.sum (map (\i -> if i + 1 < n then xs[i] * xs[i + 1] else 0) (iota n))
  let (rows, cols) = band n
  in (sparse_jacobian f32.bool (\xs -> vjp f xs 1) xs rows cols, hvp 1 f xs (replicate n 1))
