-- Accumulators that combine what is there with what is written.
import "acc"

def small (n: i64) (x: i64) : i64 = (x * 7919 + 13) % n

-- Two updates per element; the second adds to what the first may just have written.
-- ==
-- entry: sums
-- input { [100, 0, 0] [0i64, 1, 2] } output { [100, 1, 3] }
-- input { [1, 2] [-1i64, -2, 5] } output { [0, 2] }
entry sums (xs: *[]i32) (is: []i64) =
  combine_with xs (+) 0 (\(a: *acc ([]i32)) i ->
                           let a = write a i (i32.i64 i)
                           in write a (i + 1) (i32.i64 i))
               is

-- As many points as it takes for several threads, few places: every point updates two.
-- ==
-- entry: many
-- input { 100000i64 10i64 } output { true }
-- input { 100000i64 70000i64 } output { true }
entry many (n: i64) (k: i64) =
  let xs =
    combine_with (iota k) (+) 0 (\(a: *acc ([]i64)) i ->
                                   let a = write a (small k i) i
                                   in write a (i % k) 1)
                 (iota n)
  let ys = reduce_by_index (iota k) (+) 0 (map (small k) (iota n)) (iota n)
  let ys = reduce_by_index ys (+) 0 (map (% k) (iota n)) (replicate n 1)
  in and (map2 (==) xs ys)

-- The number of updates depends on the point, and the place on what was computed before.
-- ==
-- entry: triangle
-- input { 2000i64 16i64 } output { true }
entry triangle (n: i64) (k: i64) =
  let xs =
    combine_with (replicate k 0) (+) 0 (\(a: *acc ([]i64)) i ->
                                          loop a for j < i % 50 do write a ((i + j) % k) j)
                 (iota n)
  let ys = loop ys = replicate k 0 for i < n do
             loop ys for j < i % 50 do ys with [(i + j) % k] = ys[(i + j) % k] + j
  in and (map2 (==) xs ys)

-- Operators on tuples: the largest value and where it is.
def larger (a: f32, i: i64) (b: f32, j: i64) =
  if a < b || (a == b && j < i) then (b, j) else (a, i)

-- ==
-- entry: argmax
-- input { 3i64 [1f32, 5, 2, 4, 5, 6] } output { [4f32, 5, 6] [3i64, 1, 5] }
-- input { 2i64 empty([0]f32) } output { [-1f32, -1] [-1i64, -1] }
entry argmax [n] (k: i64) (xs: [n]f32) =
  let put (a: *acc ([k](f32, i64))) (i, x) = write a (i % k) (x, i)
  in unzip (combine_with (replicate k (-1f32, -1)) larger (-1f32, -1) put (zip (iota n) xs))

-- ==
-- entry: argmax_many
-- input { 60000i64 5i64 } output { true }
entry argmax_many (n: i64) (k: i64) =
  let xs = map (\i -> f32.i64 (i * 7919 % 10007)) (iota n)
  let (vs, is) = argmax k xs
  let best k' = reduce larger (-1, -1) (map (\i -> if i % k == k' then (xs[i], i) else (-1, -1)) (iota n))
  in and (map3 (\v i k' -> (v, i) == best k') vs is (iota k))

-- Operators on rows: one that is a map, and one that is not.
-- ==
-- entry: row_sums
-- input { [[1, 2], [0, 0]] [0i64, 1, 1, 2] [[1, 1], [2, 3], [4, 5], [9, 9]] } output { [[2, 3], [6, 8]] }
entry row_sums [k] [m] [n] (dest: *[k][m]i32) (is: [n]i64) (vs: [n][m]i32) =
  combine_with dest (map2 (+)) (replicate m 0) (\(a: *acc ([k][m]i32)) (i, v) -> write a i v) (zip is vs)

-- Matrices of two rows and two columns, multiplied. All that are used commute.
def mul [m] (a: [m][m]i32) (b: [m][m]i32) : [m][m]i32 =
  map (\r -> map (\c -> i32.sum (map2 (*) r c)) (transpose b)) a

-- ==
-- entry: products
-- input { [[1, 1], [1, 0]] [0i64, 1, 0, 0] } output { [[[3, 2], [2, 1]], [[1, 1], [1, 0]]] }
entry products (f: [2][2]i32) (is: []i64) =
  let one = [[1, 0], [0, 1]]
  in combine_with (replicate 2 one) mul one (\(a: *acc ([2][2][2]i32)) i -> write a i f) is

-- The two rows with the least first elements: what was the least becomes the second, in the place of another.
def least_two [m] (a: [m]i32, b: [m]i32) (c: [m]i32, d: [m]i32) =
  if c[0] < a[0] then (c, if a[0] < d[0] then a else d)
  else (a, if c[0] < b[0] then c else b)

-- ==
-- entry: least
-- input { [0i64, 0, 1, 0, 0] [[4, 1], [2, 8], [7, 7], [3, 3], [1, 5]] } output { [[1, 5], [7, 7]] [[2, 8], [9, 9]] }
entry least [n] (is: [n]i64) (vs: [n][2]i32) =
  let top = [9, 9]
  in unzip (combine_with (replicate 2 (top, top)) least_two (top, top)
                         (\(a: *acc ([2]([2]i32, [2]i32))) (i, v) -> write a i (v, top))
                         (zip is vs))

-- Which operator it is is decided when the program runs.
-- ==
-- entry: either
-- input { true [1, 1] [0i64, 0, 1] } output { [3, 2] }
-- input { false [1, 1] [0i64, 0, 1] } output { [1, 1] }
entry either (add: bool) (xs: *[]i32) (is: []i64) =
  let put (a: *acc ([]i32)) i = write a i 1
  in if add then combine_with xs (+) 0 put is else scatter_with xs put is
