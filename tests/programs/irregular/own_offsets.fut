-- Rows that a program finds by offsets of its own: the first need not be zero, and what is outside of the array is seen, whether or not
-- that is looked at once for many rows.

-- ==
-- entry: sums
-- input { [0i64, 2i64, 2i64, 3i64] [1, 2, 3] } output { [3, 0, 3] }
-- input { [1i64, 3i64, 3i64, 6i64] [1, 2, 3, 4, 5, 6] } output { [5, 0, 15] }
-- input { [9i64, 9i64, 9i64] [1] } output { [0, 0] }
-- input { [-5i64, -5i64] empty([0]i32) } output { [0] }
-- input { [-1i64, 3i64, 4i64] [1, 2, 3, 4] } error: Index \[-1\] out of bounds
-- input { [0i64, 3i64, 5i64] [1, 2, 3, 4] } error: Index \[4\] out of bounds
-- input { [9223372036854775806i64, 9223372036854775807i64] [1] } error: Index \[9223372036854775806\] out of bounds
-- input { [2i64, 1i64] [1, 2, 3] } error: Range
entry sums [n] [m] (offs: [n]i64) (xs: [m]i32) : [n - 1]i32 =
  map (\i -> i32.sum (map (\e -> xs[e]) (offs[i]..<offs[i + 1]))) (iota (n - 1))

-- Many rows of several lengths, from a place on; one of them has a share of all.
-- ==
-- entry: many
-- input { 5000i64 0i64 0i64 } output { true }
-- input { 5000i64 17i64 40000i64 } output { true }
-- input { 300i64 1i64 7i64 } output { true }
-- input { 1000i64 -3i64 100i64 } error: out of bounds
entry many (n: i64) (first: i64) (long: i64) : bool =
  let length i = if i == 0 then first else if i == n / 3 then long else i % 11
  let offs = scan (+) 0 (map length (iota (n + 1)))
  let xs = scan (+) 0 (replicate (i64.max 0 (offs[n] + 1)) 1)
  let found = map (\i -> i64.sum (map (\e -> xs[e]) (offs[i]..<offs[i + 1]))) (iota n)
  let sum i = offs[i] * (offs[i] + 1) / 2
  in and (map (\i -> found[i] == sum (i + 1) - sum i) (iota n))
