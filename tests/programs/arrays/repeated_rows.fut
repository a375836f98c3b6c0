-- Rows that are all the same, of one number or of several.

-- ==
-- entry: numbers
-- input { 0i64 3i64 1.5f32 } auto output
-- input { 3i64 0i64 1.5f32 } auto output
-- input { 2i64 3i64 1.5f32 } auto output
-- input { -1i64 3i64 1.5f32 } error: negative
-- input { 3i64 -1i64 1.5f32 } error: negative
entry numbers (n: i64) (m: i64) (x: f32) : [n][m]f32 = replicate n (replicate m x)

-- What begins so is replaced in part.
-- ==
-- entry: replaced
-- input { 3i64 4i64 } auto output
entry replaced (n: i64) (m: i64) : ([n][m]i32, [m]i32) =
  let row = replicate m 7i32
  let all = replicate n row
  in (all with [1] = iota m |> map i32.i64, row with [0] = 2)

-- Many, so that threads share them out: each row, and their sums.
-- ==
-- entry: many
-- input { 600i64 700i64 } output { true }
-- input { 3i64 200000i64 } output { true }
-- input { 200000i64 3i64 } output { true }
entry many (n: i64) (m: i64) : bool =
  let row = map (\i -> i32.i64 (i % 1000)) (iota m)
  let rows = replicate n row
  let zeros = replicate n (replicate m 0i32)
  let changed = loop (a, b) = (rows, zeros) for i < 2 do (a with [i, 1] = 5, b with [i, 2] = 6)
  let sums xss = map (reduce (+) 0) xss
  let want = reduce (+) 0 row
  in and (map2 (\i s -> s == want + (if i < 2 then 4 else 0)) (iota n) (sums changed.0))
     && and (map2 (\i s -> s == (if i < 2 then 6 else 0)) (iota n) (sums changed.1))
