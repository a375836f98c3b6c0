-- After the examples and benchmarks of "Vectorisation Avoidance": scalar code stays whole, whatever is zipped and summed.

-- The wrapped `pythagoras`: ranges, a function of pairs and a sum are one reduction that makes no array.
def pythagoras (x: f64) (y: f64) : f64 = f64.sqrt (x * x + y * y + 2 * x * y)

-- ==
-- entry: sum_pythagoras
-- input { 4i64 } output { 12.0 }
-- input { 0i64 } output { 0.0 }
-- count: reduce 1
entry sum_pythagoras (n: i64) : f64 =
  let xs = map f64.i64 (iota n)
  let ys = map f64.i64 (map (\i -> n - 1 - i) (iota n))
  in reduce (+) 0 (map2 pythagoras xs ys)

-- ==
-- entry: zip_pythagoras
-- input { [3.0, 1.0] [4.0, 1.0] } output { [7.0, 2.0] }
-- count: map 1
entry zip_pythagoras [n] (xs: [n]f64) (ys: [n]f64) : [n]f64 = map2 pythagoras xs ys

-- `distance`: triples of floats, in the paper's words a product type that stands in the way of fusion.
type point = (f64, f64, f64)

def cross ((ax, ay, az): point) ((bx, by, bz): point) : point =
  (ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)

def sub ((ax, ay, az): point) ((bx, by, bz): point) : point = (ax - bx, ay - by, az - bz)

def norm ((x, y, z): point) : f64 = f64.sqrt (x * x + y * y + z * z)

-- ==
-- entry: sum_distance
-- input { [0.0, 1.0] [1.0, 1.0] [0.0, 0.0] } output { 2.0 }
-- count: reduce 1
entry sum_distance [n] (xs: [n]f64) (ys: [n]f64) (zs: [n]f64) : f64 =
  let a = (0, 0, 0)
  let b = (1, 0, 0)
  let dist p = norm (cross (sub p a) (sub p b)) / norm (sub b a)
  in f64.sum (map dist (zip3 xs ys zs))

-- `simpleCond`: a balanced conditional is not split.
-- ==
-- entry: simple_cond
-- input { [1i64, 2i64, 3i64, 4i64] } output { [2i64, 6i64, 6i64, 12i64] }
-- count: map 1
entry simple_cond [n] (xs: [n]i64) : [n]i64 =
  map (\x -> if x % 2 == 0 then 3 * x else 2 * x) xs

-- `sinCond`: a very unbalanced one neither.
-- ==
-- entry: sin_cond
-- input { [0.0, 1.0, 0.0] } output { [0.0, 1.0, 0.0] }
-- count: map 1
entry sin_cond [n] (xs: [n]f64) : [n]f64 =
  map2 (\i x -> if i < n / 2 + 1 then x else f64.sin (f64.sin (f64.sin x))) (iota n) xs

-- `simpleRec`: tail recursion in an element is a loop in its thread.
-- ==
-- entry: simple_rec
-- input { [12.0, 4.0, 5.0] } output { [2.0, 4.0, 0.0] }
-- count: map 1
entry simple_rec [n] (xs: [n]f64) : [n]f64 =
  map (\x -> loop y = x while y >= 5 do y - 5) xs

-- `accel` of section 2: what its three parts share is computed in the one traversal.
def accel (x1: f64, y1: f64, m1: f64) (x2: f64, y2: f64, m2: f64) : (f64, f64) =
  let (dx, dy) = (x1 - x2, y1 - y2)
  let r2 = dx * dx + dy * dy + 0.01
  let a = m1 * m2 / r2
  in (a * dx / f64.sqrt r2, a * dy / f64.sqrt r2)

-- ==
-- entry: zip_accel
-- input { [1.0] [1.0] [2.0] [1.0] [1.0] [3.0] } output { [0.0] [0.0] }
-- count: map 1
entry zip_accel [n] (x1: [n]f64) (y1: [n]f64) (m1: [n]f64) (x2: [n]f64) (y2: [n]f64) (m2: [n]f64)
    : ([n]f64, [n]f64) =
  unzip (map2 accel (zip3 x1 y1 m1) (zip3 x2 y2 m2))

-- `allAccels`: all pairs and their sums, one operation whichever loop is the parallel one.
-- ==
-- entry: all_accels
-- input { [0.0, 0.0] [0.0, 0.0] [1.0, 1.0] } output { [0.0, 0.0] [0.0, 0.0] }
-- count *=0: map 1
-- count *=inf: reduce 1
entry all_accels [n] (xs: [n]f64) (ys: [n]f64) (ms: [n]f64) : ([n]f64, [n]f64) =
  let bodies = zip3 xs ys ms
  let all b = reduce (\(ax, ay) (bx, by) -> (ax + bx, ay + by)) (0, 0) (map (accel b) bodies)
  in unzip (map all bodies)

-- `divz` of section 2: a guarded division stays in the element.
-- ==
-- entry: divz
-- input { [6i32, 1i32] [3i32, 0i32] } output { [2i32, 0i32] }
-- count: map 1
entry divz [n] (xs: [n]i32) (ys: [n]i32) : [n]i32 =
  map2 (\x y -> if y == 0 then 0 else x / y) xs ys
