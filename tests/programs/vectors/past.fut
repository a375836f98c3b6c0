-- What is stored past the caches where arrays are large: maps, sums up to each point, and what is kept. A test takes small ones to be large.

def number (i: i64) : f32 = f32.i64 ((i * 7919) % 1013)

-- Two arrays of different types.
-- ==
-- entry: two
-- input { 0i64 } auto output
-- input { 15i64 } auto output
-- input { 5003i64 } auto output
entry two (n: i64) : ([n]f32, [n]f64) =
  let xs = map number (iota n)
  in unzip (map (\x -> (2 * x + 1, f64.f32 x / 3)) xs)

-- Results that lie in the middle of lines of the cache.
-- ==
-- entry: within
-- input { 3i64 0i64 } auto output
-- input { 3i64 77i64 } auto output
-- input { 5i64 5003i64 } auto output
entry within (k: i64) (n: i64) : []f32 =
  let xs = map number (iota n)
  in map (\i -> number (i + 3)) (iota k) ++ map (\x -> x * x) xs

-- Rows whose beginnings are no beginnings of lines, with neighbours, and a type of bytes.
-- ==
-- entry: rows
-- input { 3i64 1i64 } auto output
-- input { 41i64 133i64 } auto output
entry rows (n: i64) (m: i64) : ([n][m]f32, [n][m]i8) =
  let a = tabulate_2d n m (\i j -> number (i * m + j))
  let b = tabulate_2d n m (\i j -> if j > 0 then a[i, j - 1] + a[i, j] else a[i, j])
  in (b, map (map (\x -> i8.f32 x + 1)) a)

-- ==
-- entry: sums
-- input { 0i64 } auto output
-- input { 511i64 } auto output
-- input { 9001i64 } auto output
entry sums (n: i64) : ([n]i32, [n]i64) =
  let xs = map (\i -> i32.i64 (i * i)) (iota n)
  let ys = map i64.i32 xs
  in (scan (+) 0 xs, scan i64.max 0 ys)

-- Rows, and several sums at once.
-- ==
-- entry: sums_of_rows
-- input { 2i64 5i64 } auto output
-- input { 5i64 1003i64 } auto output
entry sums_of_rows (n: i64) (m: i64) : ([n][m]i32, [n][m](i64, u8)) =
  let xs = tabulate_2d n m (\i j -> i32.i64 (i * m + j))
  let both (a: i64, b: u8) (c: i64, d: u8) = (a + c, b ^ d)
  in (map (scan (+) 0) xs, map (\row -> scan both (0, 0) (map (\x -> (i64.i32 x, u8.i32 x)) row)) xs)

-- Lines of which strips fill a part, or nothing.
-- ==
-- entry: kept
-- input { 0i64 2i64 } auto output
-- input { 700i64 2i64 } auto output
-- input { 9001i64 1i64 } auto output
-- input { 9001i64 2i64 } auto output
-- input { 9001i64 3000i64 } auto output
entry kept (n: i64) (k: i64) : ([]f32, [](i64, u8)) =
  let xs = map number (iota n)
  let ys = map (\i -> (i, u8.i64 i)) (iota n)
  in (filter (\x -> i64.f32 x % k == 0) xs, filter (\(i, b) -> (i * 7 + i64.u8 b) % k == 0) ys)
