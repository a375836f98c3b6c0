-- Whole loops, calls and parallel operations that do not depend on the loop around them are done once, before it, and not at all where the
-- loop does nothing: neither fail they then, nor do they run for ever.

#[noinline]
def costly (n: i64) : i64 = loop s = 0 for i < n do (s + i * i) % 1009

-- ==
-- entry: bound
-- input { 20i64 } auto output
-- input { 0i64 } auto output
-- input { -5i64 } auto output
entry bound (n: i64) : i64 =
  loop s = 0 for i < costly n do loop s for j < costly n do s + i * j

-- ==
-- entry: often
-- input { 300i64 3000i64 } auto output
entry often (n: i64) (m: i64) : i64 =
  loop s = 0 for i < n do
    let k = loop k = 1 for j < m do (k * 3 + j) % 1013
    in (s + k * i) % 10007

-- ==
-- entry: fails
-- input { 3i64 0i64 } error: division by zero
-- input { 0i64 0i64 } output { 0i64 }
-- input { -1i64 0i64 } output { 0i64 }
-- input { 3i64 2i64 } output { 42i64 }
entry fails (n: i64) (d: i64) : i64 =
  loop s = 0 for i < n do s + (loop x = 100 for _j < 2 do x / d + d - 5 * d) + i

-- ==
-- entry: endless
-- input { 0i64 1i64 } output { 7i64 }
-- input { 2i64 0i64 } output { 9i64 }
entry endless (n: i64) (x: i64) : i64 =
  loop s = 7 for _i < n do s + (loop y = 1 while y != x do if x == 0 then 0 else y + 0 * x + 2) + 1

-- ==
-- entry: sums
-- input { 4i64 [1i64, 2i64, 3i64] } output { 24i64 }
-- input { 0i64 [1i64, 2i64, 3i64] } output { 0i64 }
-- input { 4i64 empty([0]i64) } output { 12i64 }
entry sums [n] (k: i64) (xs: [n]i64) : i64 =
  loop s = 0 for _i < k do s + i64.sum (map (+ 1) xs) - n + (3 - 3 * i64.min n 1)

-- Arrays: scanned once, read in each step.
-- ==
-- entry: scanned
-- input { [1i64, 2i64, 3i64, 4i64] 4i64 } output { 20i64 }
-- input { [1i64, 2i64, 3i64, 4i64] 0i64 } output { 0i64 }
-- input { [1i64, 2i64, 3i64, 4i64] 5i64 } error: Index
entry scanned (xs: []i64) (k: i64) : i64 =
  loop s = 0 for i < k do s + (scan (+) 0 xs)[i]

-- What is consumed in the loop, or becomes its result, is a new one in each step.
-- ==
-- entry: consumed
-- input { [3i64, 1i64, 2i64] 3i64 } output { 24i64 [5i64, 6i64, 8i64] }
-- input { [3i64, 1i64, 2i64] 0i64 } output { 0i64 [3i64, 1i64, 2i64] }
entry consumed [n] (xs: [n]i64) (k: i64) : (i64, [n]i64) =
  loop (s, _ys) = (0, copy xs) for i < k do
    let zs = scan (+) 0 xs
    let zs[0] = zs[0] + i
    in (s + zs[0] + zs[1], zs with [n - 1] = zs[n - 1] + i with [1] = zs[1] + i)

-- Lengths that are found in the loop, and arrays of these lengths.
-- ==
-- entry: lengths
-- input { [3i64, 0i64, 5i64, 0i64] 3i64 } output { 27i64 }
-- input { [0i64, 0i64] 3i64 } output { 3i64 }
-- input { [3i64] 0i64 } output { 0i64 }
entry lengths (xs: []i64) (k: i64) : i64 =
  loop s = 0 for i < k do
    let ys = filter (> 0) xs
    in s + length ys + i64.sum (map (\y -> y - i + i) ys) - (length ys) + i

-- In maps: for each point, and for all.
-- ==
-- entry: points
-- input { [[1i64, 2i64], [3i64, 4i64]] [5i64, 6i64, 7i64] } output { [[59i64, 118i64], [177i64, 236i64]] }
-- input { empty([0][2]i64) [5i64, 6i64, 7i64] } output { empty([0][2]i64) }
-- input { empty([2][0]i64) [5i64, 6i64, 7i64] } output { empty([2][0]i64) }
entry points (xss: [][]i64) (ws: []i64) : [][]i64 =
  map (map (\x -> x * (loop s = i64.sum ws for w in ws do s + w + loop t = 0 for j < 2 do t + j))) xss
  |> map (map (\x -> x + (x * 20)))
  |> map (map (/ 21))
  |> map (map (\x -> x / 39 * 59))

-- Each row is summed up once, not once for each of its elements.
-- ==
-- entry: shares
-- input { [[1f64, 3f64], [2f64, 2f64]] } output { [[0.25f64, 0.75f64], [0.5f64, 0.5f64]] }
-- input { empty([3][0]f64) } output { empty([3][0]f64) }
entry shares (xss: [][]f64) : [][]f64 =
  map (\xs -> map (\x -> x / f64.sum xs) xs) xss

-- The condition of a loop is looked at once at least.
-- ==
-- entry: condition
-- input { 50i64 10i64 } auto output
-- input { 0i64 10i64 } auto output
entry condition (n: i64) (m: i64) : i64 =
  loop x = 0 while x < (loop s = 0 for i < m do (s + i * n) % 97) do x + 1

-- Histograms and updates of what is made in the loop.
-- ==
-- entry: histogram
-- input { [0i64, 1i64, 1i64, 2i64] 3i64 } output { [3i64, 6i64, 3i64] }
-- input { [0i64, 1i64, 1i64, 2i64] 0i64 } output { [0i64, 0i64, 0i64] }
entry histogram (xs: []i64) (k: i64) : [3]i64 =
  loop h = replicate 3 0 for _i < k do
    map2 (+) h (reduce_by_index (replicate 3 0) (+) 0 xs (map (const 1) xs))
