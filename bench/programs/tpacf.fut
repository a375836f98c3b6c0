-- The angular correlation of points on a sphere: how many pairs are how far apart, among those observed, among those of random sets, and
-- between both.
type place = (f64, f64, f64)

-- Of a right ascension and a height above the equator, both from 0 to 1 and uniform if the points are uniform on the sphere.
def place (ascension: f64) (height: f64) : place =
  let z = 2 * height - 1
  let r = f64.sqrt (1 - z * z)
  in (r * f64.cos (2 * f64.pi * ascension), r * f64.sin (2 * f64.pi * ascension), z)

-- Cosines of the angles between intervals: five of them for each power of ten minutes of arc.
def bounds : [20]f64 =
  tabulate 20 (\i -> f64.cos (10 ** (f64.i64 i / 5) * f64.pi / (180 * 60)))

-- The interval of the angle between two points.
def interval ((x, y, z): place) ((a, b, c): place) : i64 =
  let cosine = x * a + y * b + z * c
  in i64.i32 (i32.sum (map (\bound -> i32.bool (cosine < bound)) bounds))

def count [n] (intervals: [n]i64) : [21]i32 = hist (+) 0 21 intervals (replicate n 1)

-- All pairs within each set, once.
def within [m] [n] (sets: [m][n]place) : [21]i32 =
  count (flatten_3d (tabulate_3d m n n (\s i j -> if i < j then interval sets[s, i] sets[s, j] else -1)))

def between [m] [n] [k] (points: [n]place) (sets: [m][k]place) : [21]i32 =
  count (flatten_3d (tabulate_3d m n k (\s i j -> interval points[i] sets[s, j])))

-- ==
-- input { [0f64, 0.25f64, 0.5f64] [0.5f64, 0.5f64, 0.75f64] [[0.125f64, 0.75f64], [0f64, 0.875f64]] [[0.5f64, 0.25f64], [0.5f64, 0.125f64]] }
-- auto output
-- compiled random input { [1001]f64 [1001]f64 [20][1001]f64 [20][1001]f64 }
def main [m] [n] [k] (ascensions: [n]f64) (heights: [n]f64) (random_ascensions: [m][k]f64) (random_heights: [m][k]f64)
                     : ([21]i32, [21]i32, [21]i32) =
  let points = map2 place ascensions heights
  let sets = map2 (map2 place) random_ascensions random_heights
  in (within [points], between points sets, within sets)
