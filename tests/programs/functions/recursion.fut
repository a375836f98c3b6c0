-- Recursive functions: on scalars and arrays, inside maps, with a depth that the machine limits.
-- ==
-- entry: factorial
-- input { 10i64 } output { 3628800i64 }
def fact (n: i64) : i64 = if n <= 1 then 1 else n * fact (n - 1)

entry factorial (n: i64) : i64 = fact n

-- ==
-- entry: ackermann
-- input { 2i64 3i64 } output { 9i64 }
def ack (m: i64) (n: i64) : i64 =
  if m == 0
  then n + 1
  else if n == 0 then ack (m - 1) 1 else ack (m - 1) (ack m (n - 1))

entry ackermann (m: i64) (n: i64) : i64 = ack m n

-- ==
-- entry: fibonacci
-- input { [0i64, 1i64, 2i64, 10i64] } output { [0i64, 1i64, 1i64, 55i64] }
def fib (n: i64) : i64 = if n < 2 then n else fib (n - 1) + fib (n - 2)

entry fibonacci (ns: []i64) : []i64 = map fib ns

def pairwise [n] (xs: [n]i64) : i64 =
  if n == 0
  then 0
  else if n == 1
  then xs[0]
  else pairwise (take (n / 2) xs) + pairwise (drop (n / 2) xs)

-- ==
-- entry: halves
-- input { [1i64, 2i64, 3i64, 4i64, 5i64] } output { 15i64 }
-- input { empty([0]i64) } output { 0i64 }
entry halves (xs: []i64) : i64 = pairwise xs

-- ==
-- entry: endless
-- input { 1i64 } error: recurs
def forever (n: i64) : i64 = 1 + forever (n + 1)

entry endless (n: i64) : i64 = forever n
