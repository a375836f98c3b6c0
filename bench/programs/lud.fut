-- The LU decomposition of a matrix without pivoting, in blocks, the rest of the matrix after each (right-looking). The diagonal of L is 1.
import "random"

def block : i64 = 64

-- Of one block.
def diagonal [b] (a: [b][b]f32) : *[b][b]f32 =
  loop a = copy a for k < b - 1 do
    tabulate_2d b b (\i j ->
      if i <= k || j < k then a[i, j]
      else let l = a[i, k] / a[k, k]
           in if j == k then l else a[i, j] - l * a[k, j])

-- The blocks on the right of a decomposed one: L x = a for each column.
def right [b] [m] (d: [b][b]f32) (a: [b][m]f32) : *[b][m]f32 =
  let solve (column: [b]f32) =
    loop x = copy column for i in 1..<b do
      x with [i] = loop s = x[i] for j < i do s - d[i, j] * x[j]
  in transpose (map solve (transpose a))

-- The blocks below it: x U = a for each row.
def below [b] [m] (d: [b][b]f32) (a: [m][b]f32) : *[m][b]f32 =
  let solve (row: [b]f32) =
    loop x = copy row for i < b do
      x with [i] = (loop s = x[i] for j < i do s - x[j] * d[j, i]) / d[i, i]
  in map solve a

-- What is left of the matrix.
def rest [b] [m] (l: [m][b]f32) (u: [b][m]f32) (a: [m][m]f32) : *[m][m]f32 =
  map2 (\row ls -> map2 (\x us -> x - f32.sum (map2 (*) ls us)) row (transpose u)) a l

-- A matrix whose diagonal is large enough to do without pivoting.
-- ==
-- entry: generate
-- input { 2i64 } auto output
entry generate (n: i64) : [n][n]f32 =
  tabulate_2d n n (\i j -> unit 1 (i * n + j) + if i == j then f32.i64 n else 0)

-- The same in blocks of any size.
def decompose [n] (b: i64) (a: *[n][n]f32) : *[n][n]f32 =
  loop a = assert (n % b == 0) a for step < n / b do
    let (k, e) = (step * b, (step + 1) * b)
    let m = n - e
    let d = diagonal (a[k:e, k:e] :> [b][b]f32)
    let u = right d (a[k:e, e:] :> [b][m]f32)
    let l = below d (a[e:, k:e] :> [m][b]f32)
    let a[e:, e:] = rest l u (a[e:, e:] :> [m][m]f32)
    let a[k:e, k:e] = d
    let a[k:e, e:] = u
    let a[e:, k:e] = l
    in a

-- ==
-- entry: blocks
-- input { 2i64 [[2f32, 1f32, 1f32, 0f32], [4f32, 3f32, 3f32, 1f32], [8f32, 7f32, 9f32, 5f32], [6f32, 7f32, 9f32, 8f32]] }
-- output { [[2f32, 1f32, 1f32, 0f32], [2f32, 1f32, 1f32, 1f32], [4f32, 3f32, 2f32, 2f32], [3f32, 4f32, 1f32, 2f32]] }
-- input { 1i64 [[2f32, 1f32], [4f32, 3f32]] } output { [[2f32, 1f32], [2f32, 1f32]] }
entry blocks [n] (b: i64) (a: *[n][n]f32) : [n][n]f32 = decompose b a

-- ==
-- compiled script input { generate 2048i64 }
def main [n] (a: *[n][n]f32) : [n][n]f32 = decompose block a
