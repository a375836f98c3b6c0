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

-- Calls count that are nested in those of another function, also where what is between them does not recur.
#[noinline]
def between (n: i64) : i64 = sum n * 2

def around (n: i64) (m: i64) : i64 = if n == 0 then between m else around (n - 1) m + 1

-- ==
-- entry: both
-- input { [4000i64, 0] 4000i64 } output { [16008000i64, 16004000] }
-- input { [4000i64, 7000] 4000i64 } error: the recursion is too deep
entry both (ns: []i64) (m: i64) = map (\n -> around n m) ns
