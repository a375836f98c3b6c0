-- Rows of many lengths, more points than a block of a GPU has threads: rows of one element, empty ones, one that holds nearly
-- everything, ones that are empty at either end, ones that end near multiples of 1024.
def lengths (kind: i64) (n: i64) : [n]i64 =
  map (\i -> if kind == 0 then 1
             else if kind == 1 then if i % 3 == 0 then i * 7 % 11 else 0
             else if kind == 2 then if i == n / 2 then 3000 else 0
             else if kind == 3 then if i < n - 9 then 30 * (i % 4) else 0
             else if kind == 4 then if i < 9 then 0 else 31 + i % 3
             else 1023 + i % 3)
      (iota n)

def element (i: i64) (j: i64) : i64 = (i * 31 + j * 7) % 101

-- Products of matrices: what is combined may not change places.
-- ==
-- entry: matrices
-- input { 0i64 1i64 } output { 8u32 }
-- input { 0i64 31i64 } output { 214656u32 }
-- input { 0i64 1025i64 } output { 214182984u32 }
-- input { 1i64 0i64 } output { 0u32 }
-- input { 1i64 700i64 } output { 1325401015u32 }
-- input { 2i64 1i64 } output { 0u32 }
-- input { 2i64 40i64 } output { 6392u32 }
-- input { 3i64 60i64 } output { 4250905921u32 }
-- input { 4i64 70i64 } output { 838790212u32 }
-- input { 5i64 5i64 } output { 2818572288u32 }
entry matrices (kind: i64) (n: i64) : u32 =
  let times (a, b, c, d) (e, f, g, h) : (u32, u32, u32, u32) =
    (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)
  let row i l =
    let (a, b, c, d) =
      reduce times (1, 0, 0, 1)
             (map (\j -> (u32.i64 (element i j), 1, 1, u32.i64 (element i j + j % 2))) (iota l))
    in u32.i64 (i + 1) * (a + 3 * b + 5 * c + 7 * d)
  in u32.sum (map2 row (iota n) (lengths kind n))

-- The first element and the last one, and the sum, of which one says nothing of the others.
-- ==
-- entry: ends
-- input { 0i64 1i64 } output { 0i64 }
-- input { 0i64 31i64 } output { 105344i64 }
-- input { 0i64 1025i64 } output { 104988192i64 }
-- input { 1i64 0i64 } output { 0i64 }
-- input { 1i64 700i64 } output { 31340568i64 }
-- input { 2i64 1i64 } output { 150079i64 }
-- input { 2i64 40i64 } output { 3154050i64 }
-- input { 3i64 60i64 } output { 3100663i64 }
-- input { 4i64 70i64 } output { 4260135i64 }
-- input { 5i64 5i64 } output { 770088i64 }
entry ends (kind: i64) (n: i64) : i64 =
  let first (a: i64) (b: i64) = if a < 0 then b else a
  let last (a: i64) (b: i64) = if b < 0 then a else b
  let row i l =
    let es = map (element i) (iota l)
    in (i + 1) * (reduce first (-1) es + 2 * reduce last (-1) es + i64.sum es)
  in i64.sum (map2 row (iota n) (lengths kind n))

-- Sums up to each element, as such and with what else there is at the element.
-- ==
-- entry: prefixes
-- input { 0i64 1i64 } output { 0i64 }
-- input { 0i64 31i64 } output { 24748i64 }
-- input { 0i64 1025i64 } output { 26195818i64 }
-- input { 1i64 0i64 } output { 0i64 }
-- input { 1i64 700i64 } output { 82226734i64 }
-- input { 2i64 1i64 } output { 449674150i64 }
-- input { 2i64 40i64 } output { 4949555685i64 }
-- input { 3i64 60i64 } output { 107981577i64 }
-- input { 4i64 70i64 } output { 65777356i64 }
-- input { 5i64 5i64 } output { 524354840i64 }
entry prefixes (kind: i64) (n: i64) : i64 =
  let row i l =
    let sums = scan (+) 0 (map (element i) (iota l))
    in i64.sum (map2 (\s j -> s * (j % 5 + i)) sums (iota l))
  in i64.sum (map2 row (iota n) (lengths kind n))

-- Arrays of each row, read elsewhere in the row.
-- ==
-- entry: places
-- input { 0i64 1i64 } output { 0i64 }
-- input { 0i64 31i64 } output { 0i64 }
-- input { 0i64 1025i64 } output { 0i64 }
-- input { 1i64 0i64 } output { 0i64 }
-- input { 1i64 700i64 } output { 21700i64 }
-- input { 2i64 1i64 } output { 0i64 }
-- input { 2i64 40i64 } output { 71933i64 }
-- input { 3i64 60i64 } output { 47821i64 }
-- input { 4i64 70i64 } output { 39352i64 }
-- input { 5i64 5i64 } output { 98257i64 }
entry places (kind: i64) (n: i64) : i64 =
  let row i l =
    let xs = map (\j -> i * j % 13) (iota l)
    let ys = map (\j -> xs[l - 1 - j]) (iota l)
    in i64.sum (map2 (\y j -> y * ((l - 1 - j) % 7 + 1)) ys (iota l))
  in i64.sum (map2 row (iota n) (lengths kind n))

-- What is kept of each row.
-- ==
-- entry: kept
-- input { 0i64 1i64 } output { 1i64 }
-- input { 0i64 31i64 } output { 10241i64 }
-- input { 0i64 1025i64 } output { 8933725i64 }
-- input { 1i64 0i64 } output { 0i64 }
-- input { 1i64 700i64 } output { 3357575i64 }
-- input { 2i64 1i64 } output { 1081i64 }
-- input { 2i64 40i64 } output { 23142i64 }
-- input { 3i64 60i64 } output { 66412i64 }
-- input { 4i64 70i64 } output { 141419i64 }
-- input { 5i64 5i64 } output { 5742i64 }
entry kept (kind: i64) (n: i64) : i64 =
  let row i l =
    let ks = filter (\x -> x % 3 == 0) (map (element i) (iota l))
    let m = length ks
    in (i + 1) * (m + if m > 0 then ks[m - 1] else 0)
  in i64.sum (map2 row (iota n) (lengths kind n))

-- An element of a row that is not there.
-- ==
-- entry: outside
-- input { 2i64 40i64 2999i64 } output { 3000i64 }
-- input { 2i64 40i64 2998i64 } error: Index \[2999\] out of bounds
-- input { 3i64 60i64 88i64 } error: Index \[89\] out of bounds
entry outside (kind: i64) (n: i64) (last: i64) : i64 =
  let ones = replicate (last + 1) 1i64
  in i64.sum (map (\l -> i64.sum (map (\j -> ones[j]) (iota l))) (lengths kind n))

-- Floats, in whatever order they are added up.
-- ==
-- entry: floats
-- input { 2i64 40i64 } output { 2249250f64 true }
-- input { 5i64 5i64 } output { 1308929f64 true }
entry floats (kind: i64) (n: i64) : (f64, bool) =
  let ls = lengths kind n
  let wide = map (\l -> f64.sum (map (\j -> f64.i64 j * 0.5) (iota l))) ls
  let narrow = map (\l -> f32.sum (map (\j -> f32.i64 j * 0.25) (iota l))) ls
  in (f64.sum wide, and (map2 (\w s -> f64.abs (w - 2 * f64.f32 s) <= w * 0.001) wide narrow))
