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
