-- Nested programs whose rows stay regular though their work differs: the examples of the papers on shapes and regularity.

-- Bubble sort of each row: each has its own number of rounds, all keep their length.
-- ==
-- entry: bubble_sort_all
-- input { [[3, 1, 2], [1, 2, 3], [9, 8, 7]] } output { [[1, 2, 3], [1, 2, 3], [7, 8, 9]] }
-- input { empty([0][3]i32) } output { empty([0][3]i32) }
-- input { empty([2][0]i32) } output { empty([2][0]i32) }
def bubble_sort [n] (xs: [n]i32) : [n]i32 =
  let (sorted, _) =
    loop (ys, again) = (copy xs, n > 1) while again do
      loop (zs, swapped) = (ys, false) for i < n - 1 do
        if zs[i] <= zs[i + 1]
        then (zs, swapped)
        else let (a, b) = (copy zs[i], copy zs[i + 1])
             in (zs with [i] = b with [i + 1] = a, true)
  in sorted

entry bubble_sort_all [n] [m] (xss: [n][m]i32) : [n][m]i32 = map bubble_sort xss

-- A branch between a row and what has its shape.
-- ==
-- entry: either
-- input { [[11, 1], [3, 4]] } output { [[11, 1], [4, 5]] }
entry either [n] [m] (xss: [n][m]i32) : [n][m]i32 =
  map (\xs -> let c = m > 0 && xs[0] > 10
              let ys = map (+ 1) xs
              in if c then xs else ys)
      xss

-- Two reductions and two maps over the parts of one array of pairs.
-- ==
-- entry: norm2
-- input { [1.0, 3.0] [2.0, 2.0] } output { [0.25, 0.75] [0.5, 0.5] }
entry norm2 [n] (us: [n]f64) (vs: [n]f64) : ([n]f64, [n]f64) =
  let xys = zip us vs
  let (xs, ys) = unzip xys
  let (a, b) = (f64.sum xs, f64.sum ys)
  in (map (/ a) xs, map (/ b) ys)

-- Each row of a matrix with one vector: rows have the length of the vector.
-- ==
-- entry: mv
-- input { [[1, 2], [3, 4]] [10, 20] } output { [[11, 22], [13, 24]] }
-- input { [[1, 2], [3, 4]] [10] } error: Error
entry mv [n] [m] [k] (xss: [n][m]i32) (ys: [k]i32) : [n][m]i32 =
  map (\xs -> map2 (+) xs (ys :> [m]i32)) xss

-- Element by element.
-- ==
-- entry: mm
-- input { [[1, 2], [3, 4]] [[10, 20], [30, 40]] } output { [[11, 22], [33, 44]] }
entry mm [n] [m] (xss: [n][m]i32) (yss: [n][m]i32) : [n][m]i32 =
  map2 (map2 (+)) xss yss

-- Quicksort of each row by repeated partition of its longest unsorted segment: what comes out of a round has the length of
-- the row, which is checked, though the parts that it is put together from have any.
-- ==
-- entry: quicksort_rows
-- input { [[3, 1, 2, 5, 4], [5, 4, 3, 2, 1], [1, 1, 1, 1, 1]] }
-- output { [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 1, 1, 1, 1]] }
-- input { empty([2][0]i32) } output { empty([2][0]i32) }
def quicksort [n] (xs: [n]i32) : [n]i32 =
  let round (ys: [n]i32) (from: i64) : ([n]i32, i64) =
    let pivot = ys[from]
    let head = take from ys
    let tail = drop from ys
    let less = filter (< pivot) tail
    let same = filter (== pivot) tail
    let more = filter (> pivot) tail
    let zs = head ++ less ++ same ++ more :> [n]i32
    in if length less == 0 then (zs, from + length same) else (zs, from)
  let (sorted, _) = loop (ys, from) = (xs, 0) while from < n do round ys from
  in sorted

entry quicksort_rows [n] [m] (xss: [n][m]i32) : [n][m]i32 = map quicksort xss

-- A transform of each row by rounds of halves: as many for all rows, and each round keeps the length.
-- ==
-- entry: hadamard_rows
-- input { [[1, 2, 3, 4], [0, 1, 0, 1]] } output { [[10, -2, -4, 0], [2, -2, 0, 0]] }
def hadamard [n] (xs: [n]i32) : [n]i32 =
  let (ys, _) =
    loop (ys, half) = (xs, 1) while half < n do
      let zs = map (\i -> let low = (i / half) % 2 == 0
                          let other = if low then i + half else i - half
                          in if other >= n then ys[i]
                             else if low then ys[i] + ys[other] else ys[other] - ys[i])
                   (iota n)
      in (zs, half * 2)
  in ys

entry hadamard_rows [n] [m] (xss: [n][m]i32) : [n][m]i32 = map hadamard xss

-- Split-radix FFT of each row: each round makes half as many transforms of twice the length from an even part and two odd
-- ones. All sizes come from the length of the rows.
-- ==
-- entry: fft_rows
-- input { [[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 0.0, 0.0]] }
-- output { [[10.0, -2.0, -2.0, -2.0], [1.0, 1.0, 1.0, 1.0]] [[0.0, 2.0, 0.0, -2.0], [0.0, 0.0, 0.0, 0.0]] }
-- input { [[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]] }
-- output { [[8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]] [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]] }
type complex = (f64, f64)
def add (a: complex) (b: complex) : complex = (a.0 + b.0, a.1 + b.1)
def sub (a: complex) (b: complex) : complex = (a.0 - b.0, a.1 - b.1)
def mul (a: complex) (b: complex) : complex = (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
def turned (a: complex) : complex = (a.1, -a.0)

def root (k: i64) (n: i64) : complex =
  let angle = -2.0 * f64.pi * f64.i64 k / f64.i64 n
  in (f64.cos angle, f64.sin angle)

-- The transforms of `xs` with each distance from the largest to 1: row `i` of a round is that of the elements from `i`, `step`
-- apart. A round needs the two before it.
def split_radix [n] (xs: [n]complex) : [n]complex =
  let (_, now, _) =
    loop (before, now, size) = (xs, xs, 1) while size < n do
      let step = n / (2 * size)
      let next =
        tabulate n (\at ->
          let (i, k) = (at / (2 * size), at % (2 * size))
          let even = now[i * size + k % size]
          in if size == 1
             then let odd = now[i + step]
                  in if k == 0 then add even odd else sub even odd
             else let quarter = size / 2
                  let j = k % quarter
                  let p = mul (root j (2 * size)) before[(i + step) * quarter + j]
                  let q = mul (root (3 * j) (2 * size)) before[(i + 3 * step) * quarter + j]
                  let (s, d) = (add p q, turned (sub p q))
                  in if k < quarter then add even s
                     else if k < size then add even d
                     else if k < size + quarter then sub even s
                     else sub even d)
      in (now, next, 2 * size)
  in now

entry fft_rows [n] [m] (xss: [n][m]f64) : ([n][m]f64, [n][m]f64) =
  unzip (map unzip (map (\xs -> split_radix (map (\x -> (x, 0.0)) xs)) xss))
