-- Rows of any lengths in sums, alone and in arrays.

type opt 'a = #some a | #none
def pick [n] (xss: [n][..]i32) (i: i64) : opt ([..]i32) = if i < n then #some xss[i] else #none
-- ==
-- entry: opt
-- input { [[1,2],[3]] 1i64 } output { [3,3] }
-- input { [[1,2],[3]] 5i64 } output { empty([0]i32) }
entry opt [n] (xss: [n][..]i32) (i: i64) : []i32 = match pick xss i case #some r -> r ++ r case #none -> []
-- ==
-- entry: opts
-- input { [[1,2],[3]] } output { [3, 0] }
entry opts [n] (xss: [n][..]i32) : [n]i32 =
  let os = map (\r -> if length r > 1 then #some r else #none : opt ([..]i32)) xss
  in map (\o -> match o case #some r -> i32.sum r case #none -> 0) os

-- Rows in tuples, sums and rows as rows of one length: each that is there is checked.
-- ==
-- entry: tuples_regular
-- input { [[1,2],[3,4]] } output { [[1,2],[3,4]] }
-- input { [[1,2],[3]] } error: Rows have lengths from 1 to 2
entry tuples_regular [n] (xss: [n][..]i32) : [n][2]i32 =
  let ps = map (\r -> (1, r)) xss
  let qs = ps :> [n](i32, [2]i32)
  in map (.1) qs
-- ==
-- entry: one_regular
-- input { [[1,2],[3]] 0i64 } output { [1, 2] }
-- input { [[1,2],[3]] 1i64 } error: cannot match shape
-- input { [[1,2],[3]] 2i64 } output { [0, 0] }
entry one_regular [n] (xss: [n][..]i32) (i: i64) : [2]i32 =
  let v : opt ([..]i32) = if i < n then #some xss[i] else #none
  let w = v :> opt ([2]i32)
  in match w case #some r -> r case #none -> [0, 0]
-- ==
-- entry: sums_regular
-- input { [[1,2],[3],[4,5]] } output { [[1,2],[0,0],[4,5]] }
-- input { [[1,2],[3],[4,5,6]] } error: shape
entry sums_regular [n] (xss: [n][..]i32) : [n][2]i32 =
  let os = map (\r -> if length r > 1 then #some r else #none : opt ([..]i32)) xss
  let qs = os :> [n](opt ([2]i32))
  in map (\q -> match q case #some r -> r case #none -> [0,0]) qs
-- ==
-- entry: deep_regular
-- input { [[[1,2],[3,4]],[],[[5,6]]] } output { [10, 0, 11] }
-- input { [[[1,2],[3,4]],[],[[5]]] } error: Rows have lengths from 1 to 2
entry deep_regular [n] (xsss: [n][..][..]i32) : [n]i32 =
  let ys = xsss :> [n][..][2]i32
  in map (\ys -> i32.sum (flatten ys)) ys
-- ==
-- entry: both_regular
-- input { [[[1,2],[3,4]],[[5,6],[7,8]]] } output { [[[1,2],[3,4]],[[5,6],[7,8]]] }
-- input { [[[1,2],[3,4]],[[5,6]]] } error: Rows have lengths from 1 to 2
-- input { [[[1,2],[3,4]],[[5,6], [7]]] } error: Rows have lengths from 1 to 2
entry both_regular [n] (xsss: [n][..][..]i32) : [n][2][2]i32 =
  xsss :> [n][2][2]i32
-- ==
-- entry: always
-- input { [[1,2],[3],[4,5]] } output { [2i64,1i64,2i64] }
entry always [n] (xss: [n][..]i32) : [n]i64 =
  let os = map (\r -> #some r : opt ([..]i32)) xss
  in map (\q -> match q case #some r -> length r case #none -> 0) os
-- ==
-- entry: payload_first
-- input { [[1,2],[3],[4,5]] [[1],[],[2,3]] } error: differ
-- input { [[1,2],[3],[4,5]] [[1,2],[3],[2,3]] } output { [3,6,7] }
entry payload_first [n] (xss: [n][..]i32) (yss: [n][..]i32) : []i32 =
  let os = map (\r -> #some r : opt ([..]i32)) xss
  let f [k] (q: opt ([k]i32)) (r: [k]i32) = match q case #some s -> s[0] + r[k-1] case #none -> 0
  in map2 f os yss
-- ==
-- entry: payload_last
-- input { [[1,2],[3],[4,5]] [[1],[3],[2,3]] } error: differ
-- input { [[1,2],[3],[4,5]] [[1,2],[3],[2,3,4]] } error: differ
-- input { [[1,2],[3],[4,5]] [[1,2],[3],[2,3]] } output { [3, 3, 7] }
entry payload_last [n] (xss: [n][..]i32) (yss: [n][..]i32) : []i32 =
  let os = map (\r -> if length r > 1 then #some r else #none : opt ([..]i32)) xss
  let f [k] (r: [k]i32) (q: opt ([k]i32)) = match q case #some s -> s[0] + r[k-1] case #none -> r[k-1]
  in map2 f yss os
