-- Size types: parameters, expressions, existentials, coercions.
def dot [n] (a: [n]i32) (b: [n]i32) : i32 = i32.sum (map2 (*) a b)
def pairs [n] (a: [n]i32) : [n * 2]i32 = flatten (map (\x -> [x, -x]) a)
def positive (a: []i32) : ?[k].[k]i32 = filter (> 0) a

-- ==
-- entry: agree
-- input { [1, 2] [3, 4] } output { 11 }
-- input { [1, 2] [3] } error: .
entry agree [n] (a: [n]i32) (b: [n]i32) = dot a b

-- ==
-- entry: expression
-- input { [1, 2] } output { [1, -1, 2, -2] }
entry expression (a: []i32) = pairs a

-- ==
-- entry: coerce
-- input { [1, 2, 3] 3i64 } output { 14 }
-- input { [1, 2, 3] 2i64 } error: .
entry coerce (a: []i32) (n: i64) = dot (a :> [n]i32) (a :> [n]i32)

-- ==
-- entry: existential
-- input { [1, -2, 3] } output { 2i64 10 }
entry existential (a: []i32) =
  let b = positive a
  in (length b, dot b b)

-- ==
-- entry: implicit
-- input { [[1, 2, 3], [4, 5, 6]] } output { 2i64 3i64 }
entry implicit [n][m] (_: [n][m]i32) = (n, m)

-- ==
-- entry: bind
-- input { [1, -2, 3] } output { 2i64 }
entry bind (a: []i32) =
  let [k] (b: [k]i32) = filter (> 0) a
  in k + length b - length b

-- ==
-- entry: branches
-- input { true [1, 2, 3] } output { [1, 2, 3, 1, 2, 3] }
-- input { false [1, 2, 3] } output { [2, 3] }
entry branches (c: bool) (a: []i32) = if c then a ++ a else drop 1 a
