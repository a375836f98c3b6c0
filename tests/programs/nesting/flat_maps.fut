-- `flatmap`: rows of any lengths, one after another, at the top and inside of maps.

-- Rows that all points make.
-- ==
-- entry: simple
-- input { [2i64, 0i64, 3i64] } output { [2i64, 0i64, 3i64] [true, false, true, false, false] [0i64, 2i64, 2i64] [0i64, 1i64, 0i64, 1i64, 2i64] [20i64, 0i64, 30i64] }
entry simple (ns: []i64) =
  flatmap (\n -> (iota n, n * 10)) ns

-- Rows that only sequential code makes.
-- ==
-- entry: branches
-- input { [1, 2, 3, 4, 6] } output { [2, 4, 4, 6, 6, 6] [0i64, 0i64, 1i64, 1i64, 3i64] }
entry branches (xs: []i32) =
  let f (x: i32) : ?[k].[k]i32 = if x % 2 == 0 then (if x == 6 then [x, x, x] else if x == 4 then [x, x] else [x]) else []
  let (_, _, offs, xs) = flatmap' f xs
  in (xs, offs)

-- A vector that grows in a loop.
-- ==
-- entry: loops
-- input { [3i64, 0i64, 5i64, 1i64] } output { [1i64, 2i64, 4i64, 1i64, 2i64, 4i64, 8i64, 16i64, 1i64] }
entry loops (ns: []i64) =
  let powers (n: i64) : ?[k].[k]i64 = loop xs = [] for i < n do xs ++ [2 ** i]
  in (flatmap' powers ns).3

-- What a filter keeps.
-- ==
-- entry: divisors
-- input { [6i64, 1i64, 7i64, 12i64] } output { [4i64, 1i64, 2i64, 6i64] [1i64, 2i64, 3i64, 6i64, 1i64, 1i64, 7i64, 1i64, 2i64, 3i64, 4i64, 6i64, 12i64] }
entry divisors (ns: []i64) =
  let f (n: i64) = filter (\d -> n % d == 0) (map (+1) (iota n))
  let (ls, _, _, ds) = flatmap' f ns
  in (ls, ds)

-- Inside of a map.
-- ==
-- entry: nested
-- input { [[1i64, 2i64], [0i64, 3i64], [0i64, 0i64]] } output { [1i64, 3i64, 0i64] [3i64, 3i64, 0i64] [[0i64, 1i64], [0i64, 0i64], [0i64, 0i64]]}
entry nested (xss: [][]i64) =
  unzip3 (map (\xs -> let (_, _, o, ys) = flatmap' iota xs in (i64.sum ys, length ys, o)) xss)

-- Inside of a map, rows that only sequential code makes.
-- ==
-- entry: nested_seq
-- input { [[1i64, 2i64], [0i64, 3i64], [0i64, 0i64]] } output { [3i64, 8i64, 0i64] [4i64, 4i64, 0i64] }
entry nested_seq (xss: [][]i64) =
  let f (n: i64) : ?[k].[k]i64 = loop r = [] for i < n do if i != 1 then r ++ [i] ++ [n] else r
  in unzip (map (\xs -> let ys = (flatmap' f xs).3 in (i64.sum ys, length ys)) xss)

-- Rows of rows, and of pairs.
-- ==
-- entry: pairs
-- input { [[1i32,2i32],[3i32,4i32]] [1i64, 2i64] } output { [[1,2],[3,4],[3,4]] [0i64, 0i64, 1i64] [true,true,false] [1.0f32, 2.0f32] }
entry pairs [n] (xss: [n][2]i32) (ks: [n]i64) =
  let (_, fs, _, r, rest) = flatmap (\(xs, k) -> (zip (replicate k xs) (iota k), f32.i64 k)) (zip xss ks)
  let (a, b) = unzip r
  in (a, b, fs, rest)

-- Flat maps in flat maps.
-- ==
-- entry: deep
-- input { [3i64, 0i64, 2i64] } output { [0i64, 0i64, 1i64, 0i64] [3i64, 0i64, 2i64] }
entry deep (ns: []i64) =
  let (_, _, _, ys) = flatmap' (\n -> (flatmap' iota (iota n)).3) ns
  let (ms, _, _, _) = flatmap' (\n -> (flatmap' iota (iota n)).0) ns
  in (ys, ms)

-- Rows of one length.
-- ==
-- entry: equal
-- input { [3i64, 0i64, 2i64] 2i64 } output { [3i64, 4i64, 0i64, 1i64, 2i64, 3i64] [0i64, 2i64, 4i64] [3i64, 0i64, 0i64, 0i64, 2i64, 0i64] }
entry equal (ns: []i64) (k: i64) =
  let (_, _, o, ys) = flatmap' (\n -> map (+n) (iota k)) ns
  in (ys, o, (flatmap' (\n -> [n, 0]) ns).3)

-- No elements.
-- ==
-- entry: none
-- input { empty([0]i64) } output { empty([0]i64) empty([0]i64) empty([0]i64) }
entry none (ns: []i64) =
  let (a, _, b, c) = flatmap' iota ns in (a, b, c)

-- Updates in place of copies of what comes out.
-- ==
-- entry: updated
-- input { [2i64, 1i64] } output { [0i64, 2i64] [5i64, 2i64] [9i64, 1i64, 0i64] 1i64 }
entry updated (ns: []i64) =
  let (_, _, o, d) = flatmap' iota ns
  let s = d[1]
  let o2 = copy o with [0] = 5
  let d = copy d with [0] = 9
  in (o, o2, d, s)

-- A length that is negative.
-- ==
-- entry: negative
-- input { [2i64, -1i64] } error: invalid
entry negative (ns: []i64) = (flatmap' iota ns).3

-- The rows once more: they begin where they are known to begin.
-- ==
-- entry: sums_of_rows
-- input { [2i64, 0i64, 4i64] } output { [1i64, 0i64, 6i64] }
entry sums_of_rows (ns: []i64) =
  let (lengths, _, starts, elements) = flatmap' iota ns
  in map2 (\s k -> i64.sum elements[s:s + k]) starts lengths
