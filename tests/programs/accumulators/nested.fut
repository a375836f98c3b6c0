-- Accumulators inside of maps, loops, operators, functions, and of each other.
import "acc"

-- ==
-- entry: in_map
-- input { 3i64 4i64 } output { [[0i64, 0, 1, 2], [1, 0, 1, 3], [2, 0, 1, 4]] }
entry in_map (n: i64) (m: i64) =
  tabulate n (\i ->
    let xs = replicate m i
    let put (a: *acc ([m]i64)) j = write a (j + 1) (if j == m - 2 then i + j else j)
    in scatter_with xs put (iota (m - 1)))

-- ==
-- entry: in_nest
-- input { 2i64 3i64 } output { [[[1i64, 0], [1, 0], [1, 0]], [[1, 1], [2, 0], [1, 1]]] }
entry in_nest (n: i64) (m: i64) =
  tabulate_2d n m (\i j ->
    combine_with [1, 0] (+) 0 (\(a: *acc ([2]i64)) k -> write a ((k + j + 1) % 2) 1) (iota i))

-- Inside of a reduction, and with what the reduction has so far.
-- ==
-- entry: in_reduce
-- input { [3i64, 1, 2] } output { 9i64 }
entry in_reduce (xs: []i64) =
  let count x = combine_with (replicate 4 0) (+) 0 (\(a: *acc ([4]i64)) i -> write a (i % 4) (i + 1)) (iota x)
  in reduce (+) (-1) (map (\x -> i64.sum (count x)) xs)

-- A loop whose array every iteration updates.
-- ==
-- entry: in_loop
-- input { 4i64 3i64 } output { [8i64, 4, 2, 1] }
entry in_loop (n: i64) (m: i64) =
  let step [n] (xs: *[n]i64) = combine_with xs (+) 0 (\(a: *acc ([n]i64)) i -> write a i (n - i - 1)) (iota n)
  let xs = loop xs = replicate n 0 for _k < m do step xs
  in scatter_with xs (\(a: *acc ([]i64)) i -> write a (n - 1 - i) (2 ** i)) (iota n)

-- Two at once: the inner one is finished for every element of the outer one, and what it gives is written to the other.
-- ==
-- entry: two
-- input { [2i64, 3] } output { [1i64, 3, 1] }
-- input { [1i64, 0, 2] } output { [2i64, 1, 0] }
entry two (xs: []i64) =
  combine_with (replicate 3 0) (+) 0 (\(a: *acc ([3]i64)) x ->
                  let inner = scatter_with (replicate 3 0) (\(b: *acc ([3]i64)) i -> write b i (i * i)) (iota x)
                  let s = i64.sum inner
                  let a = write a (x - 1) 1
                  in if s == 5 then write (write a 1 2) 1 0 else if s == 0 then a else write a 0 1)
               xs

-- Accumulators in tuples and records, under many names, through functions that do nothing to them.
def id '^a (x: a) = x
def first '^a '^b (x: a, _: b) = x

-- ==
-- entry: passed
-- input { 3i64 } output { [0i64, 1, 4] [7i64, 7, 7] }
entry passed (n: i64) =
  let go (a: *acc ([n]i64)) i =
    let {acc = b, at} = {acc = a, at = i}
    let c = id (first (b, b))
    in write c at (at * at)
  let xs = scatter_with (replicate n 0) go (iota n)
  let ys = scatter_with (replicate n 7) (\(a: *acc ([n]i64)) _ -> a) (iota n)
  in (xs, ys)

-- What an accumulation reads may be computed on the way, in parallel or not.
-- ==
-- entry: scans
-- input { 3i64 } output { [1i64, 2, 6, 2, 1] }
entry scans (n: i64) =
  combine_with (replicate (2 * n - 1) 0) (+) 0 (\(a: *acc ([]i64)) i ->
                  let ys = map (+ i) (scan (+) 0 (replicate n 1))
                  in loop a for y in ys do write a (y - 1) (1 + i64.bool (y == n)))
               (iota n)

-- A function that is large enough not to be expanded where it is called, applied in several places.
def spread [k] (a: *acc ([k]f64)) (x: f64) (at: i64) : *acc ([k]f64) =
  let w = f64.floor x
  let r = x - w
  let y = if r > 0.5 then r * r - r + 1 else r * (1 - r) * 2
  let z = f64.sqrt (y + 1) * f64.sqrt (y + 1) - y
  let a = write a at (w * z)
  let a = if at > 0 then write a (at - 1) 1 else a
  let a = loop a for j < 2 do write a (at + j + 1) (f64.i64 j)
  in if w > 100 then write a 0 y else a

-- ==
-- entry: functions
-- input { [3f64, 4] } output { [4f64, 4, 1, 1, 0] }
entry functions (xs: []f64) =
  let k = 5i64
  let ys = combine_with (replicate k 0) (+) 0 (\(a: *acc ([k]f64)) (i, x) -> spread a x i) (zip (indices xs) xs)
  in combine_with ys (+) 0 (\(a: *acc ([k]f64)) x -> spread a x 99) [0.25]
