-- Irregular arrays as parameters and results of entry points: as nested text, or as lengths and elements.

-- ==
-- entry: twice
-- input { [[1], [], [2, 3]] } output { [[2], [], [4, 6]] }
-- input { [[1, 2], [3, 4]] } output { [[2, 4], [6, 8]] }
-- input { [1i64, 0i64, 2i64] [1, 2, 3] } output { [1i64, 0i64, 2i64] [2, 4, 6] }
-- input { [1i64, 0i64, 1i64] [1, 2, 3] } error: add up to 2, but there are 3
-- input { [1i64, -1i64, 3i64] [1, 2, 3] } error: the least of them -1
-- input { [9223372036854775807i64, -9223372036854775804i64] [1, 2, 3] } error: the least of them -9223372036854775804
-- input { [4611686018427387904i64, 4611686018427387904i64, 4611686018427387904i64, 4611686018427387907i64] [1, 2, 3] } error: add up to 9223372036854775807
entry twice [n] (xss: [n][..]i32) : [n][..]i32 = map (map (* 2)) xss

-- ==
-- entry: deep
-- input { [[[1, 2], []], [], [[3]]] } output { [2i64, 0i64, 1i64] [[2i64, 0i64], [], [1i64]] [3, 0, 3] }
entry deep [n] (xsss: [n][..][..]i32) : ([n]i64, [n][..]i64, [n]i32) =
  (lengths xsss, map lengths xsss, map (\xss -> i32.sum (map i32.sum xss)) xsss)

-- Rows that turn out to have one length are still rows of any lengths outside.
-- ==
-- entry: even
-- input { 2i64 3i64 } output { [3i64, 3i64] [0i64, 1i64, 2i64, 0i64, 1i64, 2i64] }
entry even (n: i64) (m: i64) : [n][..]i64 = replicate n (iota m)

-- ==
-- entry: filtered
-- input { [[1, -2, 3], [-1], [5]] } output { [[1, 3], [], [5]] }
entry filtered (xss: [][..]i32) = map (filter (> 0)) xss

-- ==
-- entry: rows_of_pairs
-- input { [[1, 2], [3]] } output { [2i64, 1i64] [1, 2, 3] [2i64, 2i64, 1i64] }
entry rows_of_pairs [n] (xss: [n][..]i32) : [n][..](i32, i64) = map (\r -> map (\x -> (x, length r)) r) xss

-- ==
-- entry: pairs
-- input { [7, 8] [1i64, 2i64] [1f32, 2f32, 3f32] } output { [8f32, 13f32] }
entry pairs [n] (ps: [n](i32, [..]f32)) : [n]f32 = map (\(i, r) -> f32.i32 i + f32.sum r) ps

-- ==
-- entry: triples
-- input { [1i64, 0i64, 2i64] [[1, 2, 3], [4, 5, 6], [7, 8, 9]] } output { [6, 0, 39] }
entry triples [n] (xsss: [n][..][3]i32) : [n]i32 = map (\xss -> i32.sum (flatten xss)) xsss
