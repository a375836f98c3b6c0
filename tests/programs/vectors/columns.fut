-- Reductions of columns: points whose elements are neighbours are in lanes, and rows are cut into pieces where there are few columns.

def number (i: i64) (j: i64) : i64 = (i * 7919 + j * 104729) % 1013 - 506

-- Whole numbers that sums of floats hold.
-- ==
-- entry: sums
-- input { 0i64 16i64 } auto output
-- input { 1i64 16i64 } auto output
-- input { 9i64 15i64 } auto output
-- input { 20000i64 16i64 } auto output
-- input { 20001i64 17i64 } auto output
-- input { 3000i64 70i64 } auto output
-- input { 300i64 1000i64 } auto output
entry sums (n: i64) (m: i64) : [m]f32 =
  let xss = tabulate_2d n m (\i j -> f32.i64 (number i j))
  in map f32.sum (transpose xss)

-- With something for each row, and several results.
-- ==
-- entry: weighted
-- input { 9000i64 33i64 } auto output
-- input { 257i64 64i64 } auto output
entry weighted (n: i64) (m: i64) : ([m]f64, [m]f64) =
  let xss = tabulate_2d n m (\i j -> f64.i64 (number i j))
  let ws = tabulate n (\i -> f64.i64 (number i 3))
  in unzip (map (\xs -> reduce (\(a, b) (c, d) -> (a + c, f64.max b d)) (0, -f64.inf) (map2 (\x w -> (x * w, x - w)) xs ws))
                (transpose xss))

-- Operands that must not change places.
-- ==
-- entry: steps
-- input { 5000i64 19i64 } auto output
-- input { 100i64 300i64 } auto output
entry steps (n: i64) (m: i64) : [m](u32, u32) =
  let xss = tabulate_2d n m (\i j -> u32.i64 (number i j))
  in map (\xs -> reduce (\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\x -> (2 * x + 1, x)) xs)) (transpose xss)

-- Planes of columns.
-- ==
-- entry: planes
-- input { 3i64 700i64 40i64 } auto output
-- input { 50i64 20i64 18i64 } auto output
entry planes (l: i64) (n: i64) (m: i64) : [l][m]i64 =
  let xsss = tabulate_3d l n m (\h i j -> number (h + i) j)
  in map (\xss -> map i64.sum (transpose xss)) xsss

-- Vectors that are added.
-- ==
-- entry: vectors
-- input { 12000i64 24i64 } auto output
entry vectors (n: i64) (m: i64) : [m]i16 =
  let xss = tabulate_2d n m (\i j -> i16.i64 (number i j))
  in reduce (map2 (+)) (replicate m 0) xss

-- Only some checks fail, in one of the pieces.
-- ==
-- entry: checked
-- input { 9000i64 16i64 8000i64 } error: out of bounds
-- input { 9000i64 16i64 9000i64 } auto output
entry checked (n: i64) (m: i64) (k: i64) : [m]i32 =
  let xss = tabulate_2d n m (\i j -> i32.i64 (number i j))
  let is = tabulate n (\i -> if i < k then i else n)
  in map (\xs -> i32.sum (map (\i -> xs[i]) is)) (transpose xss)
