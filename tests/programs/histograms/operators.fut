-- Histograms of every type by every operator, of few and of many bins, of points that meet in one bin and of points that do not.

-- A number that looks like chance.
def mix (i: i64): i64 = let x = i * 6364136223846793005 + 1442695040888963407 in (x >> 33) ^ (x >> 17)

-- The bin of a point: some are none, and with a skew most points are in one.
def bin (k: i64) (skew: bool) (i: i64): i64 =
  if skew && i % 16 != 0 then k / 2 else (mix i & 0xffffff) % (k + 2) - 1

module every (T: integral) = {
  def of (k: i64) (skew: bool) (n: i64) =
    let is = map (bin k skew) (iota n)
    let xs = map (\i -> T.i64 (mix (i + 7))) (iota n)
    let odd = map (\x -> x T.| T.i64 1) xs
    in ( reduce_by_index (replicate k (T.i64 0)) (T.+) (T.i64 0) is xs
       , reduce_by_index (replicate k (T.i64 1)) (T.*) (T.i64 1) is odd
       , reduce_by_index (replicate k T.lowest) T.max T.lowest is xs
       , reduce_by_index (replicate k T.highest) T.min T.highest is xs
       , reduce_by_index (replicate k (T.i64 (-1))) (T.&) (T.i64 (-1)) is odd
       , reduce_by_index (replicate k (T.i64 0)) (T.|) (T.i64 0) is (map (T.& T.i64 0x10101) xs)
       , reduce_by_index (replicate k (T.i64 0)) (T.^) (T.i64 0) is xs)
}

module of_i8 = every i8
module of_u8 = every u8
module of_i16 = every i16
module of_u16 = every u16
module of_i32 = every i32
module of_u32 = every u32
module of_i64 = every i64
module of_u64 = every u64

-- ==
-- entry: bytes
-- input { 3i64 false 0i64 } auto output
-- input { 1i64 false 1i64 } auto output
-- input { 7i64 false 31i64 } auto output
-- input { 5i64 true 33i64 } auto output
-- input { 10i64 false 1023i64 } auto output
-- input { 33i64 true 1025i64 } auto output
-- input { 1025i64 false 3000i64 } auto output
-- input { 3i64 true 5000i64 } auto output
entry bytes (k: i64) (skew: bool) (n: i64) = (of_i8.of k skew n, of_u8.of k skew n)

-- ==
-- entry: shorts
-- input { 3i64 false 0i64 } auto output
-- input { 1i64 false 1i64 } auto output
-- input { 7i64 false 32i64 } auto output
-- input { 10i64 true 1024i64 } auto output
-- input { 1025i64 false 3000i64 } auto output
-- input { 3i64 true 5000i64 } auto output
entry shorts (k: i64) (skew: bool) (n: i64) = (of_i16.of k skew n, of_u16.of k skew n)

-- ==
-- entry: words
-- input { 3i64 false 0i64 } auto output
-- input { 7i64 false 33i64 } auto output
-- input { 10i64 true 1024i64 } auto output
-- input { 9000i64 false 3000i64 } auto output
-- input { 3i64 true 5000i64 } auto output
entry words (k: i64) (skew: bool) (n: i64) = (of_i32.of k skew n, of_u32.of k skew n)

-- ==
-- entry: longs
-- input { 3i64 false 0i64 } auto output
-- input { 7i64 false 31i64 } auto output
-- input { 10i64 true 1025i64 } auto output
-- input { 5000i64 false 3000i64 } auto output
-- input { 3i64 true 5000i64 } auto output
entry longs (k: i64) (skew: bool) (n: i64) = (of_i64.of k skew n, of_u64.of k skew n)

-- ==
-- entry: truths
-- input { 3i64 false 0i64 } auto output
-- input { 5i64 false 33i64 } auto output
-- input { 7i64 true 1023i64 } auto output
-- input { 1025i64 false 3000i64 } auto output
entry truths (k: i64) (skew: bool) (n: i64) =
  let is = map (bin k skew) (iota n)
  let xs = map (\i -> mix (i + 7) % 3 == 0) (iota n)
  in ( reduce_by_index (replicate k false) (||) false is xs
     , reduce_by_index (replicate k true) (&&) true is xs
     , reduce_by_index (replicate k false) (!=) false is xs)

module of_floats (T: real) = {
  -- Sums of small numbers are exact.
  def of (k: i64) (skew: bool) (n: i64) =
    let is = map (bin k skew) (iota n)
    let xs = map (\i -> T.i64 (mix (i + 7) % 128)) (iota n)
    let small = map (\i -> T.i64 (mix (i + 7) % 2)) (iota n)
    let holes = map2 (\i x -> if i % 5 == 0 then T.nan else if i % 7 == 0 then T.neg (T.i64 0) else x) (iota n) xs
    in ( reduce_by_index (replicate k (T.i64 0)) (T.+) (T.i64 0) is small
       , reduce_by_index (replicate k (T.neg T.inf)) T.max (T.neg T.inf) is xs
       , reduce_by_index (replicate k T.inf) T.min T.inf is xs
       , reduce_by_index (replicate k T.inf) T.min T.inf is holes
       , reduce_by_index (replicate k (T.neg T.inf)) T.max (T.neg T.inf) is holes)
}

module of_f16 = of_floats f16
module of_f32 = of_floats f32
module of_f64 = of_floats f64

-- ==
-- entry: floats
-- input { 3i64 false 0i64 } auto output
-- input { 1i64 false 1i64 } auto output
-- input { 5i64 false 33i64 } auto output
-- input { 7i64 true 1023i64 } auto output
-- input { 1025i64 false 3000i64 } auto output
-- input { 9000i64 false 2000i64 } auto output
entry floats (k: i64) (skew: bool) (n: i64) =
  (of_f16.of k skew n, of_f32.of k skew n, of_f64.of k skew n)

-- ==
-- entry: tuples
-- input { 3i64 false 0i64 } auto output
-- input { 5i64 false 33i64 } auto output
-- input { 7i64 true 1025i64 } auto output
-- input { 3000i64 false 2000i64 } auto output
-- input { 20i64 false 9000i64 } auto output
entry tuples (k: i64) (skew: bool) (n: i64) =
  let is = map (bin k skew) (iota n)
  let xs = map (\i -> i32.i64 (mix (i + 7))) (iota n)
  let ones = map (& 7) xs
  let apart (a: i64, b: f32, c: bool, d: u8) (e: i64, f: f32, g: bool, h: u8) =
    (a + e, f32.max b f, c || g, d * h)
  let larger (x: i32, i: i64) (y: i32, j: i64) =
    if x > y || (x == y && i < j) then (x, i) else (y, j)
  let complex (a: i32, b: i32) (c: i32, d: i32) = (a * c - b * d, a * d + b * c)
  in ( unzip4 (reduce_by_index (replicate k (0, -f32.inf, false, 1)) apart (0, -f32.inf, false, 1) is
                 (map (\x -> (i64.i32 x, f32.i32 x, x % 5 == 0, u8.i32 x | 1)) xs))
     , unzip (reduce_by_index (replicate k (i32.lowest, i64.highest)) larger (i32.lowest, i64.highest) is
                (zip ones (iota n)))
     , unzip (reduce_by_index (replicate k (1, 0)) complex (1, 0) is (map (\x -> (x, x >> 3)) xs))
     , unzip (reduce_by_index (replicate k (0, 0i64)) (\(a, b) (c, d) -> (a + c, i64.max b d)) (0, 0) is
                (map (\x -> (x, i64.i32 x)) xs)))

-- Operators that may fail, of points that are in a bin alone.
-- ==
-- entry: failing
-- input { 10i64 0i32 1000i64 } auto output
-- input { 10i64 1i32 1000i64 } error: division by zero
entry failing (k: i64) (d: i32) (n: i64) =
  let is = map (bin k false) (iota n)
  in reduce_by_index (replicate k 0i32) (\a b -> if d == 1 && a != 0 && b != 0 then (a + b) / (d - 1) else a + b) 0 is
       (map i32.i64 (iota n))
