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

-- What each point keeps.
-- ==
-- entry: kept
-- input { [[1, 2, 3], [4, 5, 6], [0, 0, 0]] } output { [2i64, 3i64, 0i64] [5, 15, 0] }
-- input { empty([0][3]i32) } output { empty([0]i64) empty([0]i32) }
-- input { empty([2][0]i32) } output { [0i64, 0i64] [0, 0] }
entry kept [n] [m] (xss: [n][m]i32) : ([n]i64, [n]i32) =
  unzip (map (\xs -> let ys = filter (> 1) xs in (length ys, reduce (+) 0 (scan i32.max 0 ys))) xss)

-- Filters of what filters and maps made.
-- ==
-- entry: sieve
-- input { [5i64, 0i64, 20i64] } output { [12i64, 0i64, 110i64] }
entry sieve (is: []i64) : []i64 =
  map (\i -> let xs = filter (\x -> x % 2 == 1) (map (+ 1) (iota i))
             let (ys, zs) = partition (\x -> x % 3 == 0) xs
             in i64.sum ys + i64.sum zs + length xs)
      is

-- Histograms and scatters of as many places as each point wants. Places outside are ignored.
-- ==
-- entry: buckets
-- input { [3i64, 0i64, 5i64] [[0i64, 1i64, 2i64, 9i64], [1i64, 0i64, 0i64, 0i64], [4i64, 4i64, -1i64, 4i64]] }
-- output { [6i64, 0i64, 15i64] [3i64, 0i64, 12i64] }
entry buckets [n] [m] (ks: [n]i64) (iss: [n][m]i64) : ([n]i64, [n]i64) =
  unzip (map2 (\k is -> let h = hist (+) 0 k is (replicate m 1i64)
                        let s = scatter (replicate k 0) is (map (\i -> i) is)
                        in (i64.sum (map2 (*) h (map (+ 1) (iota k))),
                            i64.sum (map2 (*) h s)))
                ks iss)

-- Writes of several indices and of rows.
-- ==
-- entry: planes
-- input { [2i64, 0i64, 3i64] } output { [5i64, 0i64, 17i64] }
entry planes (ks: []i64) : []i64 =
  map (\k -> let z = tabulate_2d k k (\_ _ -> 0i64)
             let m = scatter_2d z (map (\i -> (i, (i * 2) % (k + 1))) (iota k)) (map (+ 1) (iota k))
             let rows = map (\r -> let t = copy r in t with [0] = k) m
             in i64.sum (flatten rows) + i64.sum (flatten m))
      ks

-- Updates in place, and arrays one after another.
-- ==
-- entry: joined
-- input { [2i64, 0i64, 3i64] } output { [22i64, 10i64, 40i64] }
entry joined (ks: []i64) : []i64 =
  map (\k -> let xs = map (* 2) (iota (k + 1))
             let ys = (copy xs) with [k] = 5
             let zs = xs ++ ys ++ [5]
             in last (scan (+) 0 (reverse zs)) + i64.sum (take k ys) * 2)
      ks
