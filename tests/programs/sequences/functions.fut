-- Elements that are rows which functions make of rows, so that their length is computed from that of any row.

def few [n] (xs: [n]i64) : []i64 = take (i64.min n 2) xs

def few_rows [n] (xss: [n][..]i64) : [][..]i64 = take (i64.min n 2) xss

def longer [n] (xs: [n]i64) = iota (i64.max n 2)

-- ==
-- entry: same_rows
-- input { 0i64 [[1i64, 2i64], [3i64]] } output { empty([0][0]i64) }
-- input { 2i64 [[1i64, 2i64], [3i64]] } output { [[1i64, 2i64], [1i64, 2i64]] }
entry same_rows (n: i64) (xss: [][..]i64) : [][..]i64 =
  seq.to_array (seq.produce n (\_ -> few (flatten xss)))

-- What nobody uses has no type but its own.
-- ==
-- entry: unused
-- input { 3i64 [[1i64, 2i64], [3i64]] } output { 3i64 }
entry unused (n: i64) (xss: [][..]i64) : i64 =
  let _rows = seq.to_array (seq.produce n (\_ -> few (flatten xss)))
  let _deep = seq.to_array (seq.produce n (\_ -> few_rows (few_rows (xss ++ xss))))
  in n

-- ==
-- entry: rows_of_each
-- input { [[1i64, 2i64, 3i64], [4i64], [], [5i64, 6i64]] } output { [[1i64, 2i64], [4i64], [], [5i64, 6i64]] 18i64 }
entry rows_of_each (xss: [][..]i64) : ([][..]i64, i64) =
  ( seq.to_array (seq.map (\xs -> few xs) (seq.from_array xss))
  , seq.fold (\a xs -> a + i64.sum xs) 0 (seq.map (\xs -> few xs) (seq.from_array xss)))

-- ==
-- entry: deep
-- input { 2i64 [[1i64], [2i64, 3i64]] } output { [[], [[1i64], [2i64, 3i64]]] 6i64 }
entry deep (n: i64) (xss: [][..]i64) : ([][..][..]i64, i64) =
  let a = seq.to_array (seq.produce n (\i -> few_rows (few_rows (if i == 0 then take 0 xss else xss ++ xss))))
  in (a, i64.sum (map (\xss -> i64.sum (flatten xss)) a))

-- ==
-- entry: streamed
-- input { [[1i64, 2i64, 3i64], [4i64], []] } output { [[2i64, 3i64], [5i64], []] }
entry streamed (u: seq ([..]i64)) : [][..]i64 = seq.to_array (seq.map (\r -> map (+ 1) (few r)) u)

-- Without sequences the rows are of any lengths too, and those that are put together need not be of one.
-- ==
-- entry: mapped
-- input { [[1i64, 2i64, 3i64], [4i64], []] } output { [[0i64, 1i64, 2i64], [0i64, 1i64], [0i64, 1i64]] [3i64, 2i64, 2i64] }
entry mapped (xss: [][..]i64) : ([][..]i64, []i64) =
  let yss = map (\xs -> longer xs) xss
  in (yss, map length yss)

-- ==
-- entry: step
-- input { [[1i64, 2i64, 3i64], [4i64], []] 2i64 } output { [[0i64, 1i64, 2i64], [0i64, 1i64], [0i64, 1i64]] }
entry step (xss: [][..]i64) (n: i64) : [][..]i64 =
  loop xss for _i < n do map (\xs -> longer xs) xss
