-- Operators inside of maps whose lengths differ from point to point. They run at all thresholds 0 and infinite, too.

-- Lengths that are wildly different, none at all, and one that is negative.
-- ==
-- entry: sums
-- input { [3i64, 0i64, 5000i64, 1i64] } output { [3i64, 0i64, 12497500i64, 0i64] }
-- input { empty([0]i64) } output { empty([0]i64) }
-- input { [0i64, 0i64] } output { [0i64, 0i64] }
-- input { [3i64, -1i64] } error: Range
entry sums (is: []i64) : []i64 = map (\i -> reduce (+) 0 (iota i)) is

-- What stays inside of the map.
-- ==
-- entry: chain
-- input { [3i64, 0i64, 4i64] } output { [3i64, 0i64, 4i64] }
entry chain (is: []i64) : []i64 =
  map (\i -> let xs = map (\j -> j * j) (iota i)
             let ys = scan (+) 0 xs
             let top = reduce i64.max 0 ys
             in top - i64.sum xs + i64.sum (map2 (\x y -> if x <= y then 1 else 0) xs ys))
      is

-- Rows inside of rows.
-- ==
-- entry: triangles
-- input { [3i64, 0i64, 4i64] } output { [4i64, 0i64, 10i64] }
entry triangles (is: []i64) : []i64 =
  map (\i -> i64.sum (map (\j -> i64.sum (iota (j + 1))) (iota i))) is

-- A matrix at each point.
-- ==
-- entry: squares
-- input { [3i64, 0i64, 4i64] } output { [27i64, 0i64, 72i64] }
-- input { [0i64] } output { [0i64] }
entry squares (is: []i64) : []i64 =
  map (\i -> let m = tabulate_2d i i (\j k -> j * 2 + k)
             in i64.sum (map2 (+) (map i64.sum (transpose m)) (replicate i 0)))
      is

-- Parts of an array, each reduced: the ends are given.
-- ==
-- entry: parts
-- input { [0i64, 2i64, 2i64, 5i64] [1f64, 2f64, 3f64, 4f64, 5f64] } output { [3f64, 0f64, 12f64] }
-- input { [0i64, 2i64, 9i64] [1f64, 2f64, 3f64] } error: out of bounds
entry parts (ends: []i64) (xs: []f64) : []f64 =
  map (\i -> f64.sum xs[ends[i]:ends[i + 1]]) (iota (length ends - 1))

-- Lengths that depend on a loop of the host.
-- ==
-- entry: rounds
-- input { 3i64 [1i64, 4i64, 0i64] } output { [7i64, 2275i64, 0i64] }
entry rounds (k: i64) (is: []i64) : []i64 =
  loop xs = is for r < k do
    map (\x -> let ys = map (+ r) (iota x) in x + reduce (+) 0 (scan i64.max 0 ys)) xs

-- Spread values, and scalars known only inside.
-- ==
-- entry: spread
-- input { [2i64, 0i64, 3i64] [10i64, 20i64, 30i64] } output { [30i64, 0i64, 180i64] }
entry spread [n] (ns: [n]i64) (xs: [n]i64) : [n]i64 =
  map2 (\k x -> let ys = replicate k x
                let s = i64.sum ys
                in i64.sum (scan (+) 0 (map (\y -> if k > 0 then s / k + y - x else 0) ys)))
       ns xs
