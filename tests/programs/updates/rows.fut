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
