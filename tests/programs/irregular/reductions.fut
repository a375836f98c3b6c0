-- Rows of any lengths combined by `reduce` and `scan`, and written by `scatter`.

-- ==
-- entry: joined
-- input { [[1, 2], [], [3]] } output { [1, 2, 3] [0, 1, 2, 3] [1, 2, 3] }
-- input { [0i64] empty([0]i32) } output { empty([0]i32) [0] empty([0]i32) }
entry joined [n] (xss: [n][..]i32) : ([]i32, []i32, []i32) =
  (reduce (++) [] xss, reduce (++) [0] xss, reduce (\a b -> a ++ b) [] xss)

-- Rows of one length are combined in parallel.
-- ==
-- entry: added
-- input { [[1, 2], [3, 4], [5, 6]] } output { [9, 12] }
-- input { [[1, 2], [3], [5, 6]] } error: Rows differ in shape
-- input { [[1, 2, 3]] } error: Rows differ in shape
-- input { empty([0]i64) empty([0]i32) } output { [0, 0] }
entry added [n] (xss: [n][..]i32) : []i32 = reduce (map2 (+)) (replicate 2 0) xss

-- The neutral element has the length of the first row.
-- ==
-- entry: added_like
-- input { [[1, 2], [3, 4], [5, 6]] } output { [9, 12] }
-- input { [0i64, 0i64] empty([0]i32) } output { empty([0]i32) }
entry added_like [n] (xss: [n][..]i32) : []i32 = reduce (map2 (+)) (map (const 0) xss[0]) xss

-- ==
-- entry: longest
-- input { [[1, 2], [], [3, 4], [5]] } output { [1, 2] }
-- input { [[1, 2], [0], [3, 4, 6], [5]] } output { [3, 4, 6] }
-- input { [[1], [2]] } output { [1] }
entry longest [n] (xss: [n][..]i32) : []i32 =
  reduce (\a b -> if length b > length a then b else a) [] xss

-- ==
-- entry: numbered
-- input { [[1, 2], [], [3]] } output { [1, 2, 3] 3i64 }
entry numbered [n] (xss: [n][..]i32) : ([]i32, i64) =
  reduce (\(a, i) (b, j) -> (a ++ b, i + j)) ([], 0) (zip xss (replicate n 1))

-- Rows of rows.
-- ==
-- entry: deep
-- input { [[[1, 2], []], [], [[3]]] } output { [[1, 2], [], [3]] [[1, 2], [], [3]] }
entry deep [n] (xsss: [n][..][..]i32) : ([][..]i32, [][..]i32) =
  let none : [0][..]i32 = []
  in (reduce (++) none xsss, reduce (\a b -> a ++ b) none xsss)

-- ==
-- entry: folded
-- input { [[1, 2], [], [3]] } output { [1, 2, 3] [3, 1, 2] }
entry folded [n] (xss: [n][..]i32) : ([]i32, []i32) =
  (foldl (\a b -> a ++ b) [] xss, foldl (\a b -> b ++ a) [] xss)

-- ==
-- entry: prefixes
-- input { [[1, 2], [], [3]] } output { [[1, 2], [1, 2], [1, 2, 3]] }
-- input { empty([0]i64) empty([0]i32) } output { empty([0]i64) empty([0]i32) }
entry prefixes [n] (xss: [n][..]i32) : [n][..]i32 = scan (\a b -> a ++ b) [] xss

-- ==
-- entry: sums
-- input { [[1, 2], [3, 4], [5, 6]] } output { [[1, 2], [4, 6], [9, 12]] }
-- input { [[1, 2], [3, 4], [5]] } error: Rows differ in shape
entry sums [n] (xss: [n][..]i32) : [n][..]i32 = scan (map2 (+)) [0, 0] xss

-- Inside of parallel code.
-- ==
-- entry: inside
-- input { [[[1, 2], [3, 4]], [], [[5, 6]]] } output { [[4, 6], [0, 0], [5, 6]] [[1, 2, 3, 4], [], [5, 6]] }
entry inside [n] (xsss: [n][..][..]i32) : ([n][..]i32, [n][..]i32) =
  (map (\xss -> reduce (map2 (+)) [0, 0] xss) xsss, map (\xss -> reduce (++) [] xss) xsss)

-- ==
-- entry: written
-- input { [[1, 2], [], [3]] [0i64, 2i64] [[4, 5, 6], [7]] } output { [[4, 5, 6], [], [7]] [[1, 2], [], [3]] }
-- input { [[1, 2], [], [3]] [-1i64, 3i64] [[4, 5, 6], [7]] } output { [[1, 2], [], [3]] [[1, 2], [], [3]] }
entry written [n] [m] (xss: [n][..]i32) (is: [m]i64) (rows: [m][..]i32) : ([n][..]i32, [n][..]i32) =
  (scatter (copy xss) is rows, xss)

-- ==
-- entry: deep_written
-- input { [[[1, 2], []], [], [[3]]] [[4], [5, 6]] } output { [[[1, 2], []], [[4], [5, 6]], [[3]]] }
entry deep_written [n] (xsss: *[n][..][..]i32) (yss: [][..]i32) : [n][..][..]i32 =
  scatter xsss [1] [yss]

-- Lengths change from step to step; what no row holds any more does not stay.
-- ==
-- entry: around
-- input { 3i64 50i64 } output { [[49i64, 49i64], [47i64, 47i64], [48i64]] }
entry around (n: i64) (k: i64) : [n][..]i64 =
  loop xss = map iota (iota n) for i < k do
    let j = (i + 2) % n
    in scatter xss [j] [replicate (1 + i % 2) i]

-- A regular argument before an irregular one.
-- ==
-- entry: before
-- input { [[1, 2], [3]] } output { [[0, 1], [1, 2], [3]] [[1, 2], [3], [0, 1]] }
entry before [n] (xss: [n][..]i32) : ([][..]i32, [][..]i32) =
  ([[0, 1]] ++ xss, xss ++ [[0, 1]])
