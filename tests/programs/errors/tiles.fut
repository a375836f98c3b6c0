-- Checks that fail at some elements of a filter and of a scan, which GPUs work on by tiles: the tiles after those go on.
-- ==
-- entry: kept
-- input { 30000i64 12000i64 } error: out of bounds
-- input { 30000i64 30000i64 } auto output
entry kept (n: i64) (m: i64) : i64 =
  let ys = map (* 3) (iota m)
  let kept = filter (\y -> y % 2 == 0) (map (\i -> ys[i]) (iota n))
  in length kept + kept[7]

-- ==
-- entry: sums
-- input { 30000i64 12000i64 } error: out of bounds
-- input { 30000i64 30000i64 } auto output
entry sums (n: i64) (m: i64) : i64 =
  let ys = map (* 3) (iota m)
  let all = scan (+) 0 (map (\i -> ys[i]) (iota n))
  in all[n - 1]
