-- Consumers of one sequence go through it together, so that parameters may have several.

def mean (s: seq f32) : f32 = seq.reduce (+) 0 s / f32.i64 (seq.length s)

-- ==
-- entry: moments
-- input { [1f32, 2f32, 6f32] } output { 3f32 12f32 [1f32, 2f32, 6f32] }
entry moments (s: seq f32) : (f32, f32, []f32) =
  (mean s, seq.fold f32.max 0 (seq.map (* 2) s), seq.to_array s)

-- Also where statements are in between, before and after.
-- ==
-- entry: between
-- input { 2 [1, 2, 3] } output { 5 6i64 [1i64, 4i64, 9i64] }
entry between (n: i32) (s: seq i32) : (i32, i64, []i64) =
  let first = seq.fold (\a x -> a + x) (n - 3) s
  let scale = i64.i32 n
  let squares = map (\i -> (i + 1) ** scale) (iota 3)
  let second = seq.fold (\a x -> a + squares[i64.i32 x - 1] - squares[i64.i32 x - 1] + i64.i32 x) 0 s
  in (first, second, squares)

-- Each way of consuming, and a sequence of rows of any lengths.
-- ==
-- entry: each
-- input { [[1, 2], [], [3]] } output { [2i64, 0i64, 1i64] [[1, 2], [], [3]] [1, 2, 3] 6 3i64 3 }
-- input { empty([0][0]i32) } output { empty([0]i64) empty([0][0]i32) empty([0]i32) 0 0i64 0 }
entry each (s: seq ([..]i32)) : ([]i64, [][..]i32, []i32, i32, i64, i32) =
  ( seq.to_array (seq.map (\xs -> length xs) s)
  , seq.rows s
  , seq.elements s
  , seq.fold (\a xs -> a + i32.sum xs) 0 s
  , seq.length s
  , seq.reduce i32.max 0 (seq.map i32.sum s) )

-- ==
-- entry: chunks
-- input { [1, 2, 3] } output { 14 6 }
entry chunks (s: seq i32) : (i32, i32) =
  (seq.fold_chunks (\a k (xs: [k]i32) -> a + i32.sum (map2 (*) xs xs)) 0 s, seq.reduce (+) 0 s)

-- What one consumer keeps or writes over is seen by no other.
-- ==
-- entry: rows
-- input { [[1, 2], [3, 4]] } output { [3, 4] [[2, 1], [4, 3]] [3, 4] [4, 0] 3 }
entry rows (s: seq ([2]i32)) : ([2]i32, [][2]i32, [2]i32, [2]i32, i32) =
  ( seq.fold (\_ x -> x) [0, 0] s
  , seq.to_array (seq.map (\x -> [x[1], x[0]]) s)
  , seq.fold (\_ x -> x) [0, 0] s
  , seq.fold (\a x -> copy a with [0] = x[1]) [0, 0] s
  , seq.fold (\a x -> a + (copy x with [1] = a)[1] + x[0] - a + 0 * a - (if a > 0 then 1 else 0)) 0 s )

-- The same of two sequences that are gone through as one.
-- ==
-- entry: pairs
-- input { [1, 2, 3] [10, 20] } output { 50 [11, 22] 2i64 }
entry pairs (s: seq i32) (t: seq i32) : (i32, []i32, i64) =
  let both = seq.zip s t
  in (seq.fold (\a (x, y) -> a + x * y) 0 both, seq.to_array (seq.map (uncurry (+)) both), seq.length (seq.zip s t))

-- Two sequences, each with consumers of its own.
-- ==
-- entry: two
-- input { [1, 2, 3] [10, 20] } output { 6 30 3i64 2i64 }
entry two (s: seq i32) (t: seq i32) : (i32, i32, i64, i64) =
  (seq.fold (+) 0 s, seq.fold (+) 0 t, seq.length s, seq.length t)

-- Elements that are made are made once.
-- ==
-- entry: made
-- input { 5i64 } output { 30i64 16i64 [0i64, 1i64, 4i64, 9i64, 16i64] }
-- input { 0i64 } output { 0i64 0i64 empty([0]i64) }
entry made (n: i64) : (i64, i64, []i64) =
  let s = seq.produce n (\i -> i * i)
  in (seq.fold (+) 0 s, seq.reduce i64.max 0 s, seq.to_array s)

-- Inside of parallel code, and in a branch.
-- ==
-- entry: inside
-- input { 4i64 } output { [0i64, 0i64, 1i64, 3i64] [0i64, 0i64, 1i64, 2i64] }
entry inside (n: i64) : ([n]i64, [n]i64) =
  unzip (map (\i -> let s = seq.produce i id in (seq.fold (+) 0 s, seq.reduce i64.max 0 s)) (iota n))

-- ==
-- entry: chosen
-- input { true [1, 2] } output { 3 2i64 }
-- input { false [1, 2] } output { 2 2i64 }
entry chosen (c: bool) (s: seq i32) : (i32, i64) =
  if c then (seq.fold (+) 0 s, seq.length s) else (seq.fold (*) 1 s, seq.length s)

-- What is not needed is gone through with what is.
-- ==
-- entry: streamed
-- input { [1, 2, 3] } output { [2, 4, 6] }
entry streamed (s: seq i32) : seq i32 =
  let _unused = seq.fold (+) 0 s
  in seq.map (* 2) s

-- A check that fails in one consumer.
-- ==
-- entry: fails
-- input { [1, 0] } error: division by zero
entry fails (s: seq i32) : (i32, i32) = (seq.fold (+) 0 s, seq.fold (\a x -> a + 6 / x) 0 s)

-- A consumer of a sequence beside one of it and another, which ends with the shorter.
-- ==
-- entry: beside
-- input { [1, 2, 3] [10, 20] } output { 6 50 [11, 22] }
-- input { [1, 2] [10, 20, 30] } output { 3 50 [11, 22] }
-- input { [1, 2] empty([0]i32) } output { 3 0 empty([0]i32) }
-- input { empty([0]i32) [1] } output { 0 0 empty([0]i32) }
entry beside (s: seq i32) (t: seq i32) : (i32, i32, []i32) =
  (seq.fold (+) 0 s, seq.fold (+) 0 (seq.zip_with (*) s t), seq.to_array (seq.zip_with (+) s t))

-- Consumers of both, in any order, and lengths.
-- ==
-- entry: all
-- input { [1, 2, 3] [10, 20] } output { 2i64 6 [10, 20] 3i64 2i64 50 2 }
-- input { [1, 2] [10, 20, 30, 40] } output { 2i64 3 [10, 20, 30, 40] 2i64 4i64 50 4 }
-- input { empty([0]i32) [5] } output { 0i64 0 [5] 0i64 1i64 0 1 }
entry all (s: seq i32) (t: seq i32) : (i64, i32, []i32, i64, i64, i32, i32) =
  ( seq.length (seq.zip s t)
  , seq.reduce (+) 0 s
  , seq.to_array t
  , seq.length s
  , seq.length t
  , seq.fold (\a (x, y) -> a + x * y) 0 (seq.zip s t)
  , seq.fold_chunks (\a k (_: [k]i32) -> a + i32.i64 k) 0 t )

-- Three sequences, of which no two end together; nothing is done to a state after its sequence has ended.
-- ==
-- entry: three
-- input { [1, 2, 3, 4] [10, 20, 30] [7, 8] } output { [1, 2, 3, 4] 140 [[1, 7], [2, 8]] 17 }
-- input { [1] [10, 20, 30] [7, 8] } output { [1] 10 [[1, 7]] 17 }
entry three (s: seq i32) (t: seq i32) (u: seq i32) : ([]i32, i32, [][]i32, i32) =
  ( seq.to_array s
  , seq.fold (\a (x, y) -> a + x * y) 0 (seq.zip s t)
  , seq.to_array (seq.map (\(x, z) -> [x, z]) (seq.zip s u))
  , seq.fold_chunks (\a k (xs: [k]i32) -> a + i32.i64 k + i32.sum xs) 0 u )
