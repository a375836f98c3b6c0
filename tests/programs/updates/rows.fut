-- Rows that a loop writes from parts of another array: the host copies each, no single thread goes through their elements.
-- ==
-- entry: turned
-- input { [[1, 2, 3], [4, 5, 6]] [[0, 0, 0], [0, 0, 0]] } output { [[4, 5, 6], [1, 2, 3]] }
-- count: copy 2
-- input { [[1]] [[0]] } output { [[1]] }
-- count: copy 1
entry turned [n][m] (xss: [n][m]i32) (yss: *[n][m]i32) : *[n][m]i32 =
  loop yss for i < n do yss with [n - 1 - i] = xss[i]

-- ==
-- entry: halves
-- input { [1, 2, 3, 4] [0, 0, 0, 0] 2i64 } output { [3, 4, 1, 2] }
-- count: copy 2
entry halves [n] (xs: [n]i32) (ys: *[n]i32) (k: i64) : *[n]i32 =
  loop ys for i < 2 do ys with [i * k : i * k + k] = xs[n - k - i * k : n - i * k]

-- What was written into an array is still itself when that array is written again.
-- ==
-- entry: still_itself
-- input { 3i64 } output { [[0, 7], [1, 7], [2, 7]] 749 }
-- input { 0i64 } output { empty([0][2]i32) 0 }
entry still_itself (n: i64) : ([n][2]i32, i32) =
  loop (out, s) = (replicate n [0, 0], 0) for i < n do
    let x = [11, 12]
    let y = [i32.i64 i, 7]
    let u = copy x with [0:2] = y
    let u = u with [0] = 100 + s
    in (out with [i] = y, s + u[0] + u[1])

-- ==
-- entry: still_read
-- input { [1, 2, 3] } output { [33, 6, 9] 3 }
entry still_read (xs: []i32) : ([]i32, i32) =
  let ys = map (* 3) xs
  let zs = replicate (length xs) 0 with [0:length xs] = ys
  let zs = zs with [0] = 33
  in (zs, ys[0])
