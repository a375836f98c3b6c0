-- Functions that hold parallel operators and are not inlined, called inside of maps: rows of varying length come in and go out,
-- some parameters are the same for all points, calls stand in branches, loops and maps of maps.

#[noinline]
def weighted [n] (k: i64) (xs: [n]i64) : (i64, []i64) =
  let total = i64.sum xs
  in (total, map (\x -> x * k + total) (filter (\x -> x % 2 == 0) xs))

-- ==
-- entry: lengths_out
-- input { 3i64 [0i64, 1i64, 4i64, 6i64] } output { [0i64, 0i64, 24i64, 78i64] }
-- input { 3i64 empty([0]i64) } output { empty([0]i64) }
-- input { 3i64 [2i64, -1i64] } error: is invalid
entry lengths_out (k: i64) (ns: []i64) : []i64 =
  map (\n -> let (total, ys) = weighted k (iota n) in total + i64.sum ys) ns

-- ==
-- entry: rows_in
-- input { [[1i64, 2i64, 3i64], [4i64, 6i64, 8i64]] } output { [14i64, 90i64] }
-- input { empty([0][3]i64) } output { empty([0]i64) }
entry rows_in [n] [m] (xss: [n][m]i64) : [n]i64 =
  map (\xs -> let (total, ys) = weighted 1 xs in total + i64.sum ys) xss

-- The weights are the same for all points and not copied for each.
#[noinline]
def product [n] (weights: [n]i64) (k: i64) : i64 = i64.sum (map (* k) weights)

-- ==
-- entry: same_for_all
-- input { [1i64, 2i64, 3i64] [[1i64, 2i64], [3i64, 4i64]] } output { [[6i64, 12i64], [18i64, 24i64]] }
entry same_for_all [n] [a] [b] (weights: [n]i64) (kss: [a][b]i64) : [a][b]i64 = map (map (product weights)) kss

#[noinline]
def put [n] (xs: *[n]i64) (k: i64) : *[n]i64 = xs with [0:k] = map (+ 10) (iota k)

-- ==
-- entry: consumed
-- input { [0i64, 1i64, 4i64] } output { [0i64, 10i64, 26i64] }
entry consumed (ns: []i64) : []i64 = map (\n -> i64.sum (put (iota n) ((n + 1) / 2))) ns

-- ==
-- entry: in_branches
-- input { [3i64, -2i64, 0i64, 5i64] } output { [5i64, 2i64, 0i64, 16i64] }
entry in_branches (ns: []i64) : []i64 =
  map (\n -> if n < 0 then -n else let (total, ys) = weighted 1 (iota n) in if total > 5 then total + last ys - 8 else total + length ys) ns

-- ==
-- entry: in_loops
-- input { [0i64, 1i64, 3i64] } output { [0i64, 0i64, 4i64] }
entry in_loops (ns: []i64) : []i64 =
  map (\n -> loop s = 0 for i < n do s + (weighted i (iota (i + 1))).0) ns

-- The error is that of the call.
#[noinline]
def picked [n] (xs: [n]i64) (i: i64) : i64 = xs[i] + i64.sum xs

-- ==
-- entry: failing
-- input { [1i64, 2i64] [0i64, 1i64] } output { [0i64, 2i64] }
-- input { [1i64, 2i64] [0i64, 2i64] } error: out of bounds
entry failing [n] (ks: [n]i64) (is: [n]i64) : [n]i64 = map2 (\k i -> picked (iota k) i) ks is
