-- Recursive functions that hold parallel operators, called inside of maps: all points go on together, and the recursion ends when
-- there are none left.

-- It ends where maps have no points.
-- ==
-- entry: trees
-- input { [3i64, 0i64, 5i64] } output { [8i64, 1i64, 32i64] }
-- input { empty([0]i64) } output { empty([0]i64) }
def tree (n: i64) : i64 = 1 + i64.sum (map (\i -> tree (n - 1 - i)) (iota n))

entry trees (ns: []i64) : []i64 = map tree ns

-- Arrays of varying length, which become shorter from level to level; the depth is the same for all points.
def parts [n] (depth: i64) (xs: [n]i64) : i64 =
  if n <= 1
  then (if n == 1 then xs[0] * depth else 0)
  else let p = xs[n / 2]
       let rest = parts (depth + 1) (filter (< p) xs) + parts (depth + 1) (filter (> p) xs)
       in rest + depth * i64.sum (filter (== p) xs)

-- ==
-- entry: depths
-- input { [3i64, 0i64, 8i64] } output { [7i64, 0i64, 135i64] }
entry depths (ns: []i64) : []i64 = map (\n -> parts 1 (map (\i -> i * 7 % (n + 1)) (iota n))) ns

-- Arrays come back.
def sorted [n] (xs: [n]i64) : [n]i64 =
  if n <= 1
  then xs
  else let p = xs[n / 2]
       in (sorted (filter (< p) xs) ++ filter (== p) xs ++ sorted (filter (> p) xs)) :> [n]i64

-- ==
-- entry: sums_of_sorted
-- input { [3i64, 0i64, 8i64, 1i64] } output { [8i64, 0i64, 167i64, 0i64] }
entry sums_of_sorted (ns: []i64) : []i64 =
  map (\n -> i64.sum (map2 (*) (iota n) (sorted (map (\i -> i * 7 % (n + 1)) (iota n))))) ns

-- Arrays come back whose lengths only the function knows.
def sieve [m] (k: i64) (xs: [m]i64) : ?[r].[r]i64 =
  if k <= 1 then copy xs else sieve (k - 1) (filter (\x -> x == k || x % k != 0) xs)

-- ==
-- entry: primes
-- input { [2i64, 4i64, 1i64] } output { [2i64, 6i64, 0i64] }
entry primes (ns: []i64) : []i64 = map (\n -> length (sieve n (map (+ 2) (iota (n * n - 2 |> i64.max 0))))) ns

-- Some points of a map call it in one way, some in another.
-- ==
-- entry: turns
-- input { [0i64, 1i64, 4i64] } output { [0i64, 0i64, 7i64] }
def halves (n: i64) : i64 = if n <= 0 then 0 else i64.sum (iota n) + i64.sum (map (\i -> if i % 2 == 0 then halves (i - 1) else halves (i / 2 + i % 2)) (iota n))

entry turns (ns: []i64) : []i64 = map halves ns

-- Rows of a matrix, none of which is copied for a call.
def above [n] [m] (level: i64) (xss: [n][m]i64) (i: i64) : i64 =
  if level >= n then 0 else i64.sum (map (* i) xss[level]) + above (level + 1) xss i

-- ==
-- entry: weighted_sums
-- input { [[1i64, 2i64], [3i64, 4i64]] [1i64, 10i64] } output { [10i64, 100i64] }
entry weighted_sums [n] [m] [k] (xss: [n][m]i64) (is: [k]i64) : [k]i64 = map (above 0 xss) is
