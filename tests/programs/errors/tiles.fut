-- Checks that fail at one element of a filter and of a scan, which GPUs work on by tiles: the tiles after it go on.
-- ==
-- entry: kept
-- input { 30000i64 12345i64 } error: out of bounds
-- input { 30000i64 -1i64 } auto output
entry kept (n: i64) (bad: i64) : i64 =
  let ys = map (* 3) (iota n)
  let kept = filter (\y -> y % 2 == 0) (map (\i -> ys[if i == bad then n else i]) (iota n))
  in length kept + kept[7]

-- ==
-- entry: sums
-- input { 30000i64 12345i64 } error: out of bounds
-- input { 30000i64 -1i64 } auto output
entry sums (n: i64) (bad: i64) : i64 =
  let ys = map (* 3) (iota n)
  let all = scan (+) 0 (map (\i -> ys[if i == bad then n else i]) (iota n))
  in all[n - 1]
