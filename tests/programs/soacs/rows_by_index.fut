-- Operators on rows that read more of an operand than the current elements are no maps over rows, and checks that no result
-- needs stay.

def mul 't (add: t -> t -> t) (times: t -> t -> t) (a: [2][2]t) (b: [2][2]t) : [2][2]t =
  map (\r -> map (\j -> add (times r[0] b[0, j]) (times r[1] b[1, j])) (iota 2)) a

-- ==
-- entry: product
-- input { [[1i64, 2i64], [3i64, 4i64], [5i64, 6i64]] } output { [[1i64, 35i64], [0i64, 15i64]] }
entry product [n] (xs: [n][2]i64) : [2][2]i64 =
  let matrix (x: [2]i64) = map (\i -> map (\j -> if i == 0 then (if j == 0 then 1 else x[0]) else j * (x[1] - 1)) (iota 2)) (iota 2)
  in reduce (mul (+) (*)) [[1, 0], [0, 1]] (map matrix xs)

-- ==
-- entry: gradient
-- input { [2f64, 3f64] } output { [3f64, 2f64] }
entry gradient (xs: [2]f64) : [2]f64 =
  vjp (\xs -> (reduce (mul (+) (*)) [[1, 0], [0, 1]] (map (\x -> [[x, 1], [1, x]]) xs))[0, 0]) xs 1

-- ==
-- entry: checked
-- input { [1i64, 2i64] [0i64, 1i64] } output { [3i64, 6i64, 9i64] }
-- input { [1i64, 2i64] [0i64, 2i64] } error: out of bounds
entry checked [n] (xs: [n]i64) (is: [n]i64) : [3]i64 =
  reduce (map2 (+)) (replicate 3 0)
         (map2 (\x i -> let unused = xs[i] in map (\j -> (x + 0 * unused) * (j + 1)) (iota 3)) xs is)
