-- Control flow inside of maps that goes another way at each point and holds operators. It runs at all thresholds 0 and
-- infinite, too.

-- A branch with an operator, and one without.
-- ==
-- entry: some
-- input { [3i64, -2i64, 0i64, 5i64] } output { [3i64, -2i64, 0i64, 10i64] }
-- input { [-1i64, -2i64] } output { [-1i64, -2i64] }
-- input { empty([0]i64) } output { empty([0]i64) }
entry some (xs: []i64) : []i64 = map (\x -> if x > 0 then reduce (+) 0 (iota x) else x) xs

-- Both branches, and values from outside of them.
-- ==
-- entry: both
-- input { [3i64, 0i64, 4i64] [[1i64, 2i64], [3i64, 4i64], [5i64, 6i64]] } output { [13i64, 7i64, 40i64] }
entry both [n] [m] (ks: [n]i64) (xss: [n][m]i64) : [n]i64 =
  map2 (\k xs -> if k > 2
                 then let ys = scan (+) 0 xs in i64.sum ys + i64.sum (map (* k) (iota k))
                 else i64.sum (map (+ k) xs))
       ks xss

-- Arrays out of branches: of the same length, and of lengths that the branches choose.
-- ==
-- entry: arrays
-- input { [3i64, 0i64, 4i64] } output { [3i64, 0i64, 28i64] }
entry arrays (ks: []i64) : []i64 =
  map (\k -> let xs = iota k
             let ys = if k % 2 == 0 then map (* 3) (scan (+) 0 xs) else xs
             in i64.sum (map2 (\x y -> if x <= y then y else 100) xs ys) - (if k == 4 then 2 else 0))
      ks

-- ==
-- entry: chosen
-- input { [3i64, 0i64, 4i64] } output { [5i64, 0i64, 11i64] }
entry chosen (ks: []i64) : []i64 =
  map (\k -> let ys = if k % 2 == 0 then filter (> 0) (iota k) else iota k ++ [2]
             in i64.sum ys + (if k == 4 then 5 else 0) * reduce i64.min 1 ys)
      ks

-- Branches in branches, checks that only some points make.
-- ==
-- entry: deep
-- input { [1i64, 5i64, 9i64, 12i64] [10i64, 20i64] } output { [11i64, 30i64, 36i64, 0i64] }
-- input { [1i64, 5i64, 9i64, 12i64] [10i64] } error: out of bounds
-- input { [1i64, 9i64, 12i64] [10i64] } output { [11i64, 36i64, 0i64] }
entry deep (ks: []i64) (xs: []i64) : []i64 =
  map (\k -> if k < 10
             then if k < 6
                  then if k < 3
                       then i64.sum (map (+ 1) (replicate k xs[0]))
                       else i64.sum (map (\i -> xs[i]) (iota (k - 3)))
                  else i64.sum (iota k)
             else 0)
      ks

-- Loops with another number of steps at each point.
-- ==
-- entry: powers
-- input { [3i64, 0i64, 1i64, -4i64] } output { [8i64, 1i64, 2i64, 1i64] }
entry powers (ks: []i64) : []i64 =
  map (\k -> loop x = 1 for _i < k do reduce (+) 0 (replicate (x + 1) 1) + x - 1) ks

-- ==
-- entry: collatz
-- input { [1i64, 6i64, 7i64, 27i64] } output { [0i64, 8i64, 16i64, 111i64] }
entry collatz (ks: []i64) : []i64 =
  map (\k -> let (_, steps) =
               loop (x, steps) = (k, 0) while x != 1 do
                 (if x % 2 == 0 then i64.sum (map (const 1) (iota (x / 2))) else 3 * x + 1, steps + 1)
             in steps)
      ks

-- The loop carries an array, and the step is used.
-- ==
-- entry: rows
-- input { [2i64, 0i64, 3i64] [[1i64, 2i64], [3i64, 4i64], [5i64, 6i64]] } output { [[2i64, 5i64], [3i64, 4i64], [8i64, 25i64]] }
entry rows [n] [m] (ks: [n]i64) (xss: [n][m]i64) : [n][m]i64 =
  map2 (\k xs -> loop ys = xs for i < k do map (+ i) (scan (+) 0 ys)) ks xss

-- Arrays of another length at each point that keep it.
-- ==
-- entry: bubbles
-- input { [4i64, 0i64, 5i64] } output { [27i64, 0i64, 27i64] }
entry bubbles (ks: []i64) : []i64 =
  map (\k -> let xs = map (\i -> (i * 3) % (k + 1)) (iota k)
             let sorted = loop ys = xs while !(and (map (\i -> i == 0 || ys[i - 1] <= ys[i]) (indices ys))) do
                            let zs = tabulate k (\i -> if i % 2 == 0 then (if i + 1 < k then i64.min ys[i] ys[i + 1] else ys[i]) else i64.max ys[i - 1] ys[i])
                            in tabulate k (\i -> if i == 0 then zs[0] else if i % 2 == 1 then (if i + 1 < k then i64.min zs[i] zs[i + 1] else zs[i]) else i64.max zs[i - 1] zs[i])
             in i64.sum (map2 (*) sorted (map (+ 1) (iota k))))
      ks

-- Loops in branches in loops.
-- ==
-- entry: tower
-- input { [0i64, 1i64, 4i64, 7i64] } output { [0i64, 1i64, 16i64, 69i64] }
entry tower (ks: []i64) : []i64 =
  map (\k -> loop s = 0 for i < k do
               if i % 2 == 0
               then s + i64.sum (iota (i + 1)) + 1
               else loop t = s for j < i do t + reduce i64.max 0 (map (+ j) (iota 3)))
      ks
