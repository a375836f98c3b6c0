-- Sums of gathered elements over rows of every short length, of which the last ones are added with others of the row once more, for
-- numbers of every width, and for operators that do not add.

-- Rows of the numbers from 0 on.
def rows [n] (ls: [n]i64) : [n][..]i64 = segment ls (iota (i64.sum ls))

-- What rows hold, by way of a table.
def table 't (ls: []i64) (f: i64 -> t) : []t = map f (iota (i64.sum ls))

-- ==
-- entry: doubles
-- input { [0i64, 1i64, 2i64, 3i64, 4i64, 5i64, 6i64, 7i64, 8i64, 9i64, 0i64] }
-- output { [0f64, 0f64, 3f64, 12f64, 30f64, 60f64, 105f64, 168f64, 252f64, 360f64, 0f64] }
-- input { empty([0]i64) } output { empty([0]f64) }
entry doubles [n] (ls: [n]i64) : [n]f64 =
  let xs = table ls f64.i64 in map (\row -> f64.sum (map (\i -> xs[i]) row)) (rows ls)

-- ==
-- entry: singles
-- input { [4i64, 1i64, 0i64, 3i64] } output { [6f32, 4f32, 0f32, 18f32] }
entry singles [n] (ls: [n]i64) : [n]f32 =
  let xs = table ls f32.i64 in map (\row -> f32.sum (map (\i -> xs[i]) row)) (rows ls)

-- ==
-- entry: bytes
-- input { [4i64, 1i64, 0i64, 3i64, 5i64] } output { [6u8, 4u8, 0u8, 18u8, 50u8] }
entry bytes [n] (ls: [n]i64) : [n]u8 =
  let xs = table ls u8.i64 in map (\row -> u8.sum (map (\i -> xs[i]) row)) (rows ls)

-- ==
-- entry: words
-- input { [4i64, 1i64, 0i64, 3i64, 5i64] } output { [6i32, 4i32, 0i32, 18i32, 50i32] }
entry words [n] (ls: [n]i64) : [n]i32 =
  let xs = table ls i32.i64 in map (\row -> i32.sum (map (\i -> xs[i]) row)) (rows ls)

-- ==
-- entry: longs
-- input { [4i64, 1i64, 0i64, 3i64, 5i64] } output { [6i64, 4i64, 0i64, 18i64, 50i64] }
entry longs [n] (ls: [n]i64) : [n]i64 =
  let xs = table ls id in map (\row -> i64.sum (map (\i -> xs[i]) row)) (rows ls)

-- ==
-- entry: pairs
-- input { [4i64, 1i64, 0i64, 3i64, 5i64] }
-- output { [6i64, 4i64, 0i64, 18i64, 50i64] [10i64, 5i64, 0i64, 21i64, 55i64] }
entry pairs [n] (ls: [n]i64) : ([n]i64, [n]i64) =
  let xs = table ls id in
  unzip (map (\row -> (i64.sum (map (\i -> xs[i]) row), i64.sum (map (\i -> xs[i] + 1) row))) (rows ls))

-- ==
-- entry: most
-- input { [4i64, 1i64, 0i64, 3i64, 5i64] } output { [3i64, 4i64, -1i64, 7i64, 12i64] }
entry most [n] (ls: [n]i64) : [n]i64 =
  let xs = table ls id in
  map (\row -> reduce_comm i64.max (-1) (map (\i -> xs[i]) row)) (rows ls)
