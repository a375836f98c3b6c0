-- How many of a few numbers are greater than each, or less, which is found by halves where they are in order, and counts in few buckets.

-- Numbers that look like chance.
def mix (i: i64): i64 = let x = i * 6364136223846793005 + 1442695040888963407 in (x >> 33) ^ (x >> 17)
def some (i: i64): f64 = f64.i64 (mix i % 2000) / 8

-- How the row is: rising, falling, all alike, in no order, with numbers that are none at one place, or with infinities at its ends.
def row (n: i64) (kind: i64): [n]f64 =
  tabulate n (\i ->
    if kind == 0 then 6 * f64.i64 i - 3
    else if kind == 1 then some 1 - 7 * f64.i64 (i / 2)
    else if kind == 2 then some 1
    else if kind == 3 then some i
    else if kind == 4 then (if i == n / 3 then f64.nan else f64.i64 i)
    else if i == 0 then -f64.inf else if i == n - 1 then f64.inf else f64.i64 (i - 3))

-- ==
-- entry: numbers
-- input { 100i64 } auto output
entry numbers (n: i64): [n]f64 =
  tabulate n (\i -> if i % 17 == 3 then f64.nan else if i % 19 == 5 then f64.inf else if i % 23 == 7 then -f64.inf
                    else if i % 5 == 0 then f64.i64 (i % 40) else some i)

-- ==
-- entry: less
-- script input { (0i64, numbers 100i64) } auto output
-- script input { (1i64, numbers 1000i64) } auto output
-- script input { (2i64, numbers 65i64) } auto output
-- script input { (3i64, numbers 300i64) } auto output
-- script input { (4i64, numbers 300i64) } auto output
-- script input { (5i64, numbers 333i64) } auto output
entry less [m] (kind: i64) (xs: [m]f64) =
  let row = row 20 kind in map (\x -> i32.sum (map (\b -> i32.bool (x < b)) row)) xs

-- ==
-- entry: at_most
-- script input { (0i64, numbers 100i64) } auto output
-- script input { (1i64, numbers 1000i64) } auto output
-- script input { (2i64, numbers 65i64) } auto output
-- script input { (3i64, numbers 300i64) } auto output
-- script input { (4i64, numbers 300i64) } auto output
-- script input { (5i64, numbers 333i64) } auto output
entry at_most [m] (kind: i64) (xs: [m]f64) =
  let row = row 20 kind in map (\x -> i64.sum (map (\b -> i64.bool (x <= b)) row)) xs

-- ==
-- entry: greater
-- script input { (0i64, numbers 100i64) } auto output
-- script input { (1i64, numbers 1000i64) } auto output
-- script input { (2i64, numbers 65i64) } auto output
-- script input { (3i64, numbers 300i64) } auto output
-- script input { (4i64, numbers 300i64) } auto output
-- script input { (5i64, numbers 333i64) } auto output
entry greater [m] (kind: i64) (xs: [m]f64) =
  let row = row 20 kind in map (\x -> loop k = 3u8 for b in row do k + u8.bool (x > b)) xs

-- ==
-- entry: at_least
-- script input { (0i64, numbers 100i64) } auto output
-- script input { (1i64, numbers 1000i64) } auto output
-- script input { (2i64, numbers 65i64) } auto output
-- script input { (3i64, numbers 300i64) } auto output
-- script input { (4i64, numbers 300i64) } auto output
-- script input { (5i64, numbers 333i64) } auto output
entry at_least [m] (kind: i64) (xs: [m]f64) =
  let row = row 20 kind in map (\x -> loop k = -1 for b in row do i16.bool (b <= x) + k) xs

-- ==
-- entry: of_5
-- script input { (0i64, numbers 100i64) } auto output
-- script input { (1i64, numbers 129i64) } auto output
-- script input { (3i64, numbers 64i64) } auto output
-- script input { (5i64, numbers 200i64) } auto output
entry of_5 [m] (kind: i64) (xs: [m]f64) =
  let row = row 5 kind in map (\x -> i64.sum (map (\b -> i64.bool (x < b)) row)) xs

-- ==
-- entry: of_6
-- script input { (0i64, numbers 100i64) } auto output
-- script input { (1i64, numbers 129i64) } auto output
-- script input { (3i64, numbers 64i64) } auto output
-- script input { (5i64, numbers 200i64) } auto output
entry of_6 [m] (kind: i64) (xs: [m]f64) =
  let row = row 6 kind in map (\x -> i64.sum (map (\b -> i64.bool (x < b)) row)) xs

-- ==
-- entry: of_7
-- script input { (0i64, numbers 100i64) } auto output
-- script input { (1i64, numbers 129i64) } auto output
-- script input { (3i64, numbers 64i64) } auto output
-- script input { (5i64, numbers 200i64) } auto output
entry of_7 [m] (kind: i64) (xs: [m]f64) =
  let row = row 7 kind in map (\x -> i64.sum (map (\b -> i64.bool (x < b)) row)) xs

-- ==
-- entry: of_8
-- script input { (0i64, numbers 100i64) } auto output
-- script input { (1i64, numbers 129i64) } auto output
-- script input { (3i64, numbers 64i64) } auto output
-- script input { (5i64, numbers 200i64) } auto output
entry of_8 [m] (kind: i64) (xs: [m]f64) =
  let row = row 8 kind in map (\x -> i64.sum (map (\b -> i64.bool (x < b)) row)) xs

-- ==
-- entry: of_15
-- script input { (0i64, numbers 100i64) } auto output
-- script input { (1i64, numbers 129i64) } auto output
-- script input { (3i64, numbers 64i64) } auto output
-- script input { (5i64, numbers 200i64) } auto output
entry of_15 [m] (kind: i64) (xs: [m]f64) =
  let row = row 15 kind in map (\x -> i64.sum (map (\b -> i64.bool (x < b)) row)) xs

-- ==
-- entry: of_16
-- script input { (0i64, numbers 100i64) } auto output
-- script input { (1i64, numbers 129i64) } auto output
-- script input { (3i64, numbers 64i64) } auto output
-- script input { (5i64, numbers 200i64) } auto output
entry of_16 [m] (kind: i64) (xs: [m]f64) =
  let row = row 16 kind in map (\x -> i64.sum (map (\b -> i64.bool (x < b)) row)) xs

-- ==
-- entry: of_31
-- script input { (0i64, numbers 100i64) } auto output
-- script input { (1i64, numbers 129i64) } auto output
-- script input { (3i64, numbers 64i64) } auto output
-- script input { (5i64, numbers 200i64) } auto output
entry of_31 [m] (kind: i64) (xs: [m]f64) =
  let row = row 31 kind in map (\x -> i64.sum (map (\b -> i64.bool (x < b)) row)) xs

-- ==
-- entry: of_32
-- script input { (0i64, numbers 100i64) } auto output
-- script input { (1i64, numbers 129i64) } auto output
-- script input { (3i64, numbers 64i64) } auto output
-- script input { (5i64, numbers 200i64) } auto output
entry of_32 [m] (kind: i64) (xs: [m]f64) =
  let row = row 32 kind in map (\x -> i64.sum (map (\b -> i64.bool (x < b)) row)) xs

-- Of single precision, of an array that is given, and several at once.
-- ==
-- entry: singles
-- random input { [12]f32 [1000]f32 } auto output
-- input { [0f32, 1f32, 2f32, 3f32, 4f32, 5f32, 6f32, 7f32, 8f32, 9f32, 9.5f32, 10f32] [-1f32, 0f32, 0.5f32, 4f32, 9f32, 9.25f32, 10f32, 11f32, f32.nan, f32.inf, -f32.inf, -0f32, 1f32, 2f32, 3f32, 4f32, 5f32, 6f32] } auto output
-- input { [9f32, 8f32, 7f32, 6f32, 5f32, 4f32, 3f32, 2f32, 1f32, 0f32, -0f32, -9f32] [-1f32, 0f32, 0.5f32, 4f32, 9f32, 9.25f32, 10f32, 11f32, f32.nan, f32.inf, -f32.inf, -0f32, 1f32, 2f32, 3f32, 4f32, 5f32, 6f32] } auto output
entry singles [n] (row: [12]f32) (xs: [n]f32) : [n]i32 = map (\x -> i32.sum (map (\b -> i32.bool (x < b)) row)) xs

-- ==
-- entry: singles_behind
-- random input { [12]f32 [1000]f32 } auto output
-- input { [0f32, 1f32, 2f32, 3f32, 4f32, 5f32, 6f32, 7f32, 8f32, 9f32, 9.5f32, 10f32] [-1f32, 0f32, 0.5f32, 4f32, 9f32, 9.25f32, 10f32, 11f32, f32.nan, f32.inf, -f32.inf, -0f32, 1f32, 2f32, 3f32, 4f32, 5f32, 6f32] } auto output
-- input { [9f32, 8f32, 7f32, 6f32, 5f32, 4f32, 3f32, 2f32, 1f32, 0f32, -0f32, -9f32] [-1f32, 0f32, 0.5f32, 4f32, 9f32, 9.25f32, 10f32, 11f32, f32.nan, f32.inf, -f32.inf, -0f32, 1f32, 2f32, 3f32, 4f32, 5f32, 6f32] } auto output
entry singles_behind [n] (row: [12]f32) (xs: [n]f32) : [n]i64 = map (\x -> i64.sum (map (\b -> i64.bool (b < x)) row)) xs

-- ==
-- entry: both
-- random input { [12]f32 [1000]f32 } auto output
-- input { [0f32, 1f32, 2f32, 3f32, 4f32, 5f32, 6f32, 7f32, 8f32, 9f32, 9.5f32, 10f32] [-1f32, 0f32, 0.5f32, 4f32, 9f32, 9.25f32, 10f32, 11f32, f32.nan, f32.inf, -f32.inf, -0f32, 1f32, 2f32, 3f32, 4f32, 5f32, 6f32] } auto output
-- input { [9f32, 8f32, 7f32, 6f32, 5f32, 4f32, 3f32, 2f32, 1f32, 0f32, -0f32, -9f32] [-1f32, 0f32, 0.5f32, 4f32, 9f32, 9.25f32, 10f32, 11f32, f32.nan, f32.inf, -f32.inf, -0f32, 1f32, 2f32, 3f32, 4f32, 5f32, 6f32] } auto output
entry both [n] (row: [12]f32) (xs: [n]f32) : ([n]i32, [n]i32) = unzip (map (\x -> (i32.sum (map (\b -> i32.bool (x < b)) row), i32.sum (map (\b -> i32.bool (b < x)) row))) xs)

-- The buckets that they are counted in: one more than there are bounds, fewer, so that some are in none, and more than are compared with.
def interval (kind: i64) : f64 -> i64 = let row = row 20 kind in \x -> i64.sum (map (\b -> i64.bool (x < b)) row)

-- ==
-- entry: buckets
-- script input { (0i64, numbers 160000i64) } auto output
-- script input { (1i64, numbers 1023i64) } auto output
-- script input { (3i64, numbers 1024i64) } auto output
-- script input { (5i64, numbers 70i64) } auto output
entry buckets [m] (kind: i64) (xs: [m]f64) = hist (+) 0i32 21 (map (interval kind) xs) (replicate m 1)

-- ==
-- entry: fewer
-- script input { (0i64, numbers 160000i64) } auto output
-- script input { (1i64, numbers 1023i64) } auto output
-- script input { (3i64, numbers 1024i64) } auto output
-- script input { (5i64, numbers 70i64) } auto output
entry fewer [m] (kind: i64) (xs: [m]f64) = hist (+) 0i64 9 (map (\x -> interval kind x - 5) xs) (replicate m (-3))

-- ==
-- entry: far
-- script input { (0i64, numbers 160000i64) } auto output
-- script input { (1i64, numbers 1023i64) } auto output
-- script input { (3i64, numbers 1024i64) } auto output
-- script input { (5i64, numbers 70i64) } auto output
entry far [m] (kind: i64) (xs: [m]f64) = hist (+) 0i16 32 (map (\x -> interval kind x * 100) xs) (replicate m 300)

-- ==
-- entry: more
-- script input { (0i64, numbers 160000i64) } auto output
-- script input { (1i64, numbers 1023i64) } auto output
-- script input { (3i64, numbers 1024i64) } auto output
-- script input { (5i64, numbers 70i64) } auto output
entry more [m] (kind: i64) (xs: [m]f64) = hist (+) 0i64 33 (map (\x -> interval kind x * 2) xs) (replicate m 1)

-- ==
-- entry: one
-- script input { (0i64, numbers 160000i64) } auto output
-- script input { (1i64, numbers 1023i64) } auto output
-- script input { (3i64, numbers 1024i64) } auto output
-- script input { (5i64, numbers 70i64) } auto output
entry one [m] (kind: i64) (xs: [m]f64) = hist (+) 0u8 1 (map (\x -> interval kind x - 1) xs) (replicate m 7)

-- Rows of pairs whose last groups are done partly before, as of all pairs of two sets, and only of those that come after.
def bounds: [20]f64 = tabulate 20 (\i -> 12 * f64.i64 i)

def pair (x: f64) (y: f64): i64 =
  i64.i32 (i32.sum (map (\b -> i32.bool (b <= x * y / 100)) bounds))

def count [n] (intervals: [n]i64): [21]i32 = hist (+) 0 21 intervals (replicate n 1)

-- ==
-- entry: pairs
-- script input { (numbers 37i64, numbers 91i64) } auto output
-- script input { (numbers 161i64, numbers 1001i64) } auto output
-- script input { (numbers 150i64, numbers 16i64) } auto output
-- script input { (numbers 9i64, numbers 3i64) } auto output
entry pairs [n] [m] (xs: [n]f64) (ys: [m]f64) = count (flatten (tabulate_2d n m (\i j -> pair xs[i] ys[j])))

-- ==
-- entry: after
-- script input { (numbers 37i64, numbers 91i64) } auto output
-- script input { (numbers 403i64, numbers 403i64) } auto output
-- script input { (numbers 150i64, numbers 16i64) } auto output
-- script input { (numbers 9i64, numbers 3i64) } auto output
entry after [n] [m] (xs: [n]f64) (ys: [m]f64) =
  count (flatten (tabulate_2d n m (\i j -> if i < j then pair xs[i] ys[j] else -1)))
