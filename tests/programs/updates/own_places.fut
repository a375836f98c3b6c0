-- Parts of arrays that are replaced by what maps make of them: points that read their own element only write it where it is.

def start (n: i64) : *[n][n]i32 = tabulate_2d n n (\i j -> i32.i64 (i * 17 + j * 5) % 23)

-- The rest of a matrix less a product.
-- ==
-- entry: rest
-- input { 0i64 } auto output
-- input { 3i64 } auto output
-- input { 70i64 } auto output
entry rest (n: i64) : [n][n]i32 =
  loop a = start n for k < n do
    let e = k + 1
    let (l, u) = (copy a[e:, k], copy a[k, e:])
    let part = map2 (\row x -> map2 (\y z -> y - x * z) row u) a[e:, e:] l
    let a[e:, e:] = part
    in a

-- The same with a sum in each point, in tiles.
-- ==
-- entry: blocks
-- input { 5i64 2i64 } auto output
-- input { 90i64 20i64 } auto output
entry blocks (n: i64) (b: i64) : [n][n]f32 =
  let a = tabulate_2d n n (\i j -> f32.i64 ((i * 17 + j * 5) % 23))
  let e = b
  let (l, u) = (copy a[e:, :b], copy a[:b, e:])
  let a[e:, e:] = map2 (\row xs -> map2 (\y zs -> y - f32.sum (map2 (*) xs zs)) row (transpose u)) a[e:, e:] l
  in a

-- Neighbours, and the other side of the diagonal, are read by others.
-- ==
-- entry: neighbours
-- input { 1i64 } auto output
-- input { 70i64 } auto output
entry neighbours (n: i64) : [n][n]i32 =
  let a = start n
  let a[:, 1:] = map (\row -> map2 (\x y -> 2 * x + y) row[1:] row[:n - 1]) a
  let a[1:, 1:] = map2 (\i row -> map2 (\j x -> x + a[j, i]) (iota (n - 1)) row) (iota (n - 1)) a[1:, 1:]
  in a

-- ==
-- entry: columns
-- input { 70i64 3i64 } auto output
-- input { 70i64 70i64 } error: out of bounds
entry columns (n: i64) (k: i64) : [n][n]i32 =
  let a = start n
  let a[:, k] = map (\x -> x * x + 1) a[:, k]
  let a[k, 1:] = map2 (\x y -> x - y) a[k, 1:] a[0, 1:]
  let a[k, :] = map2 (\x y -> x - 3 * y) a[k, :] a[0, :]
  in a

-- Read again afterwards, in one way of two, and with steps.
-- ==
-- entry: again
-- input { 70i64 true } auto output
-- input { 70i64 false } auto output
entry again (n: i64) (c: bool) : ([n][n]i32, i32) =
  let a = start n
  let part = if c then map (map (+ 1)) a[2:, 2:] else map (map (* 3)) a[2:, 2:]
  let s = i32.sum a[3]
  let a[2:, 2:] = part
  let t = i32.sum a[3]
  let half = map (\x -> x / 2) a[0, ::2]
  let a[0, ::2] = half
  in (a, s + 1000 * t + 7 * i32.sum half)
