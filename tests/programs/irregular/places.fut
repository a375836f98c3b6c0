-- Irregular arrays in all kinds of places: sizes bound by patterns, sums, modules, loops, updates, comparisons.

-- ==
-- entry: sizes_bound
-- input { [[1,2],[3]] } output { [2i64,1i64] [[1,2,1],[3,3]] }
entry sizes_bound [n] (xss: [n][..]i32) : ([n]i64, [n][..]i32) =
  (map (\row -> let [k] (ys: [k]i32) = row in k + length ys - k) xss,
   map (\row -> let [k] (ys: [k]i32) = row in ys ++ [ys[0]]) xss)
-- ==
-- entry: for_in
-- input { [[1,2],[],[3]] } output { 6 }
entry for_in [n] (xss: [n][..]i32) : i32 = loop s = 0 for row in xss do s + i32.sum row
type t = #some ([2][..]i32) | #none
-- ==
-- entry: sums
-- input { true } output { 6 }
-- input { false } output { 0 }
entry sums (b: bool) : i32 =
  let v : t = if b then #some [[1,2],[3]] else #none
  in match v case #some xss -> i32.sum (flatten xss) case #none -> 0
-- ==
-- entry: updated
-- input { [[1,2],[3]] } output { [[9,2],[9]] [0,2,3] [[1,2],[3]] }
entry updated [n] (xss: [n][..]i32) : ([n][..]i32, []i32, [n][..]i32) =
  (map (\r -> copy r with [0] = 9) xss, copy (flatten xss) with [0] = 0, xss)
-- ==
-- entry: own_row
-- input { [[1,2],[3]] } output { [[9,2],[9]] [[1,2],[3]] }
entry own_row [n] (xss: [n][..]i32) : ([n][..]i32, [n][..]i32) =
  let f [k] (r: *[k]i32) : *[k]i32 = r with [0] = 9
  in (map (\r -> f (copy r)) xss, xss)
-- ==
-- entry: flat_update
-- input { [2i64,1i64] } output { [7i64,1i64,0i64] [[0i64,1i64],[0i64]] }
entry flat_update (ns: []i64) : ([]i64, [][..]i64) =
  let xss = map iota ns
  let ys = flatten xss
  in (copy ys with [0] = 7, xss)
-- ==
-- entry: joined
-- input { [[1,2],[3]] [[4]] } output { [[1,2],[3],[4]] [[1,2],[3],[1,2],[3]] [[3],[1,2]] [[3],[1,2]] }
entry joined [n] [m] (xss: [n][..]i32) (yss: [m][..]i32) : ([][..]i32, [][..]i32, [][..]i32, [][..]i32) =
  (xss ++ yss, xss ++ xss, rotate 1 xss, reverse xss)
-- ==
-- entry: mixed
-- input { true [[1,2],[3]] } output { [[1,2],[3]] }
-- input { false [[1,2],[3]] } output { [[0,0,0],[0,0,0]] }
entry mixed [n] (b: bool) (xss: [n][..]i32) : [n][..]i32 = if b then xss else replicate n (replicate 3 0)
-- ==
-- entry: mixed2
-- input { false [[1,2],[3]] } output { [[1,2],[3]] }
-- input { true [[1,2],[3]] } output { [[0,0,0],[0,0,0]] }
entry mixed2 [n] (b: bool) (xss: [n][..]i32) : [n][..]i32 = if b then replicate n (replicate 3 0) else xss
-- ==
-- entry: inner_if
-- input { [1i64,2i64,3i64] } output { [[0i64],[7i64,7i64],[0i64,1i64,2i64]] }
entry inner_if [n] (ns: [n]i64) : [n][..]i64 = map (\n -> if n == 2 then replicate n 7 else iota n) ns
-- ==
-- entry: inner_loop
-- input { [0i64,2i64,3i64] } output { [[], [0i64,1i64], [0i64,1i64,2i64]] }
entry inner_loop [n] (ns: [n]i64) : [n][..]i64 = map (\n -> loop xs = [] for i < n do xs ++ [i]) ns
-- ==
-- entry: inner_irregular
-- input { [0i64,2i64,3i64] } output { [0i64, 1i64, 3i64] }
entry inner_irregular [n] (ns: [n]i64) : [n]i64 =
  map (\n -> let xss = map iota (iota n)
             let xss = loop xss for i < 2 do map (\r -> r ++ [i]) xss
             let xss = if n > 2 then map (\r -> r[1:]) xss else xss
             in i64.sum (map (\r -> length r) xss) - (if n > 2 then n else 2 * n) + (if n > 2 then 0 else 0)) ns
-- ==
-- entry: two_rows
-- input { [[1,2],[3]] [[4,5],[6]] } output { [14,18] }
-- input { [[1,2],[3]] [[4,5],[6,7]] } error: differ in shape
entry two_rows [n] (xss: [n][..]i32) (yss: [n][..]i32) : [n]i32 =
  map2 (\xs ys -> i32.sum (map2 (*) xs ys)) xss yss
-- ==
-- entry: dots
-- input { [[1,2],[3]] [[4,5],[6]] } output { [14,18] }
-- input { [[1,2],[3]] [[4,5],[6,7]] } error: differ in shape
entry dots [n] (xss: [n][..]i32) (yss: [n][..]i32) : [n]i32 =
  let dot [k] (xs: [k]i32) (ys: [k]i32) : i32 = i32.sum (map (\i -> xs[i] * ys[i]) (iota k))
  in map2 dot xss yss
-- ==
-- entry: eqs
-- input { [[1,2],[3]] [[1,2],[3]] } output { true false }
-- input { [[1,2],[3]] [[1,2],[4]] } output { false true }
-- input { [[1,2],[3]] [[1],[2,3]] } output { false true }
entry eqs [n] (xss: [n][..]i32) (yss: [n][..]i32) : (bool, bool) = (xss == yss, xss != yss)
module type m = { type t val mk : i64 -> t val total : t -> i64 }
module im : m = { type t = [3][..]i64 def mk (n: i64) : t = map iota [n, n+1, n+2] def total (xss: t) = i64.sum (flatten xss) }
-- ==
-- entry: modules
-- input { 2i64 } output { 10i64 }
entry modules (n: i64) : i64 = im.total (im.mk n)
-- ==
-- entry: partitioned
-- input { [[1,2],[3],[]] } output { [[1,2]] [[3],[]] }
entry partitioned [n] (xss: [n][..]i32) : ([][..]i32, [][..]i32) = partition (\r -> length r > 1) xss
-- ==
-- entry: matrices
-- input { [1i64, 2i64] } output { [1i64, 2i64, 2i64] [0i64, 0i64, 1i64, 0i64, 1i64] }
entry matrices (ns: []i64) : ([]i64, []i64) =
  let xss = map (\n -> replicate n (iota n)) ns
  in (lengths (flatten xss), flatten (flatten xss))
-- ==
-- entry: segmented
-- input { [1i64, 0i64, 2i64] [1, 2, 3] } output { [[1], [], [2, 3]] }
-- input { [1i64, 0i64, 1i64] [1, 2, 3] } error: add up to 2
entry segmented [n] (ls: [n]i64) (xs: []i32) : [n][..]i32 = segment ls xs
-- ==
-- entry: segmented_inside
-- input { [[1i64, 2i64], [3i64, 0i64]] [1, 2, 3] } output { [[1, 5], [6, 0]] }
-- input { [[1i64, 2i64], [3i64, 1i64]] [1, 2, 3] } error: add up to 4
-- input { [[4i64, -1i64], [3i64, 0i64]] [1, 2, 3] } error: the least of them -1
-- input { [[3i64, -1i64], [3i64, 0i64]] [1, 2, 3] } error: the least of them -1
entry segmented_inside [n] [k] [m] (lss: [n][k]i64) (xs: [m]i32) : [n][k]i32 =
  map (\ls -> map i32.sum (segment ls xs)) lss
-- ==
-- entry: segmented_again
-- input { [1i64, 2i64] [1, 2, 3] 3 } output { [1, 5] }
-- input { [3i64, -1i64] [1, 2, 3] 3 } error: the least of them -1
entry segmented_again [k] [m] (ls: [k]i64) (xs: [m]i32) (n: i32) : [k]i32 =
  loop ys = replicate k 0 for _i < n do map2 (\row y -> i32.sum row + y - y) (segment ls xs) ys
