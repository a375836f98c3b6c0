-- Loops that count up to a limit and may end before it, after any number of steps: GPUs take several steps with one branch, and take them
-- back.

-- ==
-- entry: steps
-- input { 60i64 13 } auto output
-- input { 60i64 3 } auto output
-- input { 60i64 0 } auto output
-- input { 60i64 -5 } auto output
entry steps (n: i64) (limit: i32) : ([n]i32, [n]f32) =
  unzip (map (\i ->
    loop (k, x) = (0, f32.i64 i)
    while k < limit && x < 40 do (k + 1, x * 1.25 + 1)) (iota n))

-- The counter is asked for in the steps, and the limit differs.
-- ==
-- entry: counted
-- input { 50i64 } auto output
entry counted (n: i64) : ([n]i64, [n]i64) =
  unzip (map (\i ->
    loop (k, s) = (i % 3, 0i64)
    while k < i % 17 && s % 11 != 5 do (k + 1, s + k * i)) (iota n))

-- A counter that is close to the least number.
-- ==
-- entry: least
-- input { 8i64 -2147483648 } auto output
-- input { 8i64 -2147483645 } auto output
-- input { 8i64 -2147483640 } auto output
entry least (n: i64) (limit: i32) : [n]i32 =
  map (\i ->
    (loop (k, x) = (i32.lowest, i) while k < limit && x < 5 do (k + 1, x + 1)).0) (iota n)
