-- Unique irregular arrays.

-- ==
-- entry: uniq
-- input { [[1,2],[3]] } output { [[1,2,0],[3,0]] }
entry uniq [n] (xss: *[n][..]i32) : *[n][..]i32 = map (\r -> r ++ [0]) xss
-- ==
-- entry: ret
-- input { [[1,2],[3]] } output { [[1,2],[3]] }
entry ret [n] (xss: *[n][..]i32) : *[n][..]i32 = xss
-- ==
-- entry: lp
-- input { [[1,2],[3]] } output { [[1,2,0,1],[3,0,1]] }
entry lp [n] (xss: *[n][..]i32) : *[n][..]i32 = loop xss for i < 2 do map (\r -> r ++ [i32.i64 i]) xss
