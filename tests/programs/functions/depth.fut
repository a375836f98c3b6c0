-- Ten thousand calls may be nested, on the host and inside of parallel operators.
def sum (n: i64) : i64 = if n == 0 then 0 else n + sum (n - 1)

-- ==
-- entry: inside
-- input { [2000i64, 3, 0] } output { [2001000i64, 6, 0] }
-- input { [9999i64] } output { [49995000i64] }
-- input { [10000i64] } error: the recursion is too deep
-- input { [1i64, 1000000000000] } error: the recursion is too deep
entry inside (ns: []i64) = map sum ns

-- Each call makes an array.
def steps (n: i64) : i64 = if n == 0 then 0 else i64.sum (map (* n) (iota 2)) - steps (n - 1)

-- ==
-- entry: outside
-- input { 100i64 } output { 50i64 }
-- input { 9999i64 } output { 5000i64 }
-- input { 10000i64 } error: the recursion is too deep
entry outside (n: i64) = steps n
