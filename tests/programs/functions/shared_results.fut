-- Two results of a function that is called, and not inlined, may be parts of one array.

#[noinline]
def halves [n] (k: i64) (xs: [n]i32) : ([k]i32, [n - k]i32) =
  let ys = map (* 2) xs
  in (ys[0:k] :> [k]i32, ys[k:n] :> [n - k]i32)

-- ==
-- entry: both
-- input { 1i64 [1, 2, 3] } output { [2] [14, 6] [2] }
entry both (k: i64) (xs: []i32) : ([]i32, []i32, []i32) =
  let (front, back) = halves k xs
  in (front, copy back with [0] = 14, copy front)
