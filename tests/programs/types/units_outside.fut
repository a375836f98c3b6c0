-- Arrays without data cross entry points with their sizes, alone and as parts of opaque values.

type~ bare = ?[n].[n]()

entry make (n: i64) : bare = replicate n ()

entry size (b: bare) : i64 = length b

-- ==
-- entry: size
-- script input { make 5i64 }
-- output { 5i64 }
-- script input { make 0i64 }
-- output { 0i64 }

type~ table = ?[n][m].{keys: [n]i64, marks: [n][m](), left: ()}

entry table (n: i64) (m: i64) : table =
  {keys = iota n, marks = replicate n (replicate m ()), left = ()}

entry area (t: table) : (i64, i64) = (length t.keys, length t.marks[0])

-- ==
-- entry: area
-- script input { table 3i64 4i64 }
-- output { 3i64 4i64 }

type~ nest = ?[k][m].[k]([m](), i32)

entry nest (k: i64) (m: i64) : nest =
  tabulate k (\i -> (replicate m (), i32.i64 i))

entry nested (x: nest) : (i64, i64, i32) =
  (length x, length x[0].0, i32.sum (map (.1) x))

-- ==
-- entry: nested
-- script input { nest 3i64 2i64 }
-- output { 3i64 2i64 3i32 }

-- The size that an array of units has counts as that of any other.
entry same [n] (b: [n]()) (xs: [n]i32) : i32 = i32.sum xs + i32.i64 (length b)

entry seven : bare = replicate 7 ()

-- ==
-- entry: same
-- script input { (seven, [1, 2, 3, 4, 5, 6, 7i32]) }
-- output { 35i32 }
-- script input { (seven, [1, 2, 3i32]) }
-- error: has shape \[3\], expected \[7\]
