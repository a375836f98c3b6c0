-- Sequences as parameters and results of entry points. Their values look like arrays.

-- ==
-- entry: sum
-- input { [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] } output { 55 10i64 }
-- input { empty([0]i32) } output { 0 0i64 }
entry sum (s: seq i32) : (i32, i64) = seq.fold (\(a, n) x -> (a + x, n + 1)) (0, 0) s

-- ==
-- entry: doubled
-- input { [1, 2, 3, 4, 5, 6, 7] } output { [2, 4, 6, 8, 10, 12, 14] }
-- input { empty([0]i32) } output { empty([0]i32) }
entry doubled (s: seq i32) : seq i32 = seq.map (* 2) s

-- ==
-- entry: squares
-- input { 5i64 } output { [0i64, 1i64, 4i64, 9i64, 16i64] }
entry squares (n: i64) : seq i64 = seq.produce n (\i -> i * i)

-- ==
-- entry: tuples
-- input { [1, 2, 3] [1f32, 2f32, 3f32] 10f32 } output { [11f32, 12f32, 13f32] [1, 2, 3] }
entry tuples (s: seq (i32, f32)) (x: f32) : seq (f32, i32) = seq.map (\(i, y) -> (x + y, i)) s

-- The shorter one says how long both are.
-- ==
-- entry: zipped
-- input { [1, 2, 3] [10, 20, 30, 40] } output { 140 }
-- input { [1, 2, 3, 4, 5] [10, 20] } output { 50 }
entry zipped (s: seq i32) (t: seq i32) : i32 = seq.fold (+) 0 (seq.zip_with (*) s t)

-- ==
-- entry: numbered
-- input { [5, 6, 7] } output { [0i64, 6i64, 14i64] }
entry numbered (s: seq i32) : seq i64 = seq.zip_with (\i x -> i * i64.i32 x) (seq.produce 1000 id) s

-- ==
-- entry: rows
-- input { [[1, 2], [], [3, 4, 5], [6]] } output { [3, 0, 12, 6] }
entry rows (s: seq ([..]i32)) : seq i32 = seq.map i32.sum s

-- ==
-- entry: ranges
-- input { 4i64 } output { [[], [0i64], [0i64, 1i64], [0i64, 1i64, 2i64]] }
entry ranges (n: i64) : seq ([..]i64) = seq.produce n iota

-- ==
-- entry: matrix
-- input { [[1, 2], [3, 4], [5, 6]] } output { [9, 12] }
-- input { [[1, 2, 3]] } error: Elements of a sequence have the shape
entry matrix (s: seq ([2]i32)) : [2]i32 = seq.fold (map2 (+)) [0, 0] s

-- ==
-- entry: sized
-- input { [1, 2, 3] [[1, 2, 3], [3, 4, 5]] } output { [14, 26] }
entry sized [n] (xs: [n]i32) (s: seq ([n]i32)) : seq i32 = seq.map (\ys -> i32.sum (map2 (*) xs ys)) s

-- ==
-- entry: kept
-- input { [3, 1, 2] } output { [2, 1, 3] }
entry kept (s: seq i32) : []i32 = reverse (seq.to_array s)

-- A sequence may be gone through in one of several ways.
-- ==
-- entry: chosen
-- input { true [3, 1, 2] } output { 6 }
-- input { false [3, 1, 2] } output { 3 }
entry chosen (sum: bool) (s: seq i32) : i32 =
  if sum then seq.fold (+) 0 s else i32.i64 (seq.length s)

-- Two results of one go.
-- ==
-- entry: both
-- input { [3, 1, 2] } output { 6 1 }
entry both (s: seq i32) : (i32, i32) = seq.reduce (\(a, b) (c, d) -> (a + c, i32.min b d)) (0, i32.highest) (seq.map (\x -> (x, x)) s)

-- One sequence after the other.
-- ==
-- entry: scaled
-- input { [1, 2, 3] [1, 1, 2] } output { [6, 6, 12] }
entry scaled (s: seq i32) (t: seq i32) : seq i32 =
  let a = seq.fold (+) 0 s
  in seq.map (* a) t

type point = {x: f32, y: f32}

-- ==
-- entry: points
-- input { [1f32, 3f32] [2f32, 4f32] } output { [5f32, 25f32] }
entry points (s: seq point) : seq f32 = seq.map (\p -> p.x * p.x + p.y * p.y) s

-- ==
-- entry: fails
-- input { [1, 0, 2] } error: division by zero
entry fails (s: seq i32) : seq i32 = seq.map (10 /) s
