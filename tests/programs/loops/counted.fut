-- Loops whose condition bounds a counter beside something else: many steps, few, none, a limit at the ends of its type, in parallel
-- code and outside.

let steps (limit: i32) (from: i32) (x: u32) : (i32, u32) =
  loop (n, y) = (from, x) while n < limit && y % 11 != 0 do (n + 1, y * 5 + 3)

-- ==
-- entry: all
-- input { [0i32, 1i32, 2i32, 3i32, 4i32, 5i32, 9i32, 1000i32] } auto output
-- input { [-2147483648i32, -2147483647i32, -2147483646i32, -2147483645i32, -1i32] } auto output
entry all (limits: []i32) : [][16](i32, u32) =
  map (\limit -> map (\x -> steps limit 0 (u32.i64 x)) (iota 16)) limits

-- The counter begins anywhere, also at the lowest number and above the limit.
-- ==
-- entry: from
-- input { 7i32 [7i32, 8i32, 2147483647i32, 6i32, 3i32, 0i32, -20i32] } auto output
-- input { -2147483640i32 [-2147483648i32, -2147483641i32, -2147483640i32, 0i32] } auto output
-- input { 2147483647i32 [2147483647i32, 2147483646i32, 2147483640i32] } auto output
entry from (limit: i32) (starts: []i32) : [](i32, u32) =
  map (\start -> steps limit start 1) starts

-- The counter alone, the other way about, in 64 bits, and with a second bound.
-- ==
-- entry: others
-- input { 10i64 [0i64, 1i64, 5i64, 10i64, 11i64] } auto output
-- input { 0i64 [0i64, -1i64] } auto output
entry others (limit: i64) (starts: []i64) : []i64 =
  map (\start ->
         let a = loop n = start while n < limit do n + 1
         let (b, _) = loop (n, y) = (start, 1) while y < 500 && n < limit do (n + 1, y + y)
         let (c, _) = loop (n, m) = (start, 0) while n < limit && m < 6i64 do (n + 1, m + 1)
         in a * 10000 + b * 100 + c)
      starts

-- The limit changes with each step.
-- ==
-- entry: moving
-- input { [3i32, 10i32, 100i32] } auto output
entry moving (limits: []i32) : []i32 =
  map (\limit ->
         let (n, _) = loop (n, l) = (0, limit) while n < l && l > 2 do (n + 1, l - 1)
         in n)
      limits
