-- Branches of a parameter of a loop and of something else: they may differ in size whatever it is that the loop began with.
def few [n] (xs: [n]i64) : []i64 = let k = i64.min n 3 in take k xs

-- ==
-- entry: outside
-- input { 2i64 [1i64, 2i64, 3i64, 4i64, 5i64] } output { [1i64, 2i64, 3i64] }
-- input { 9i64 [1i64, 2i64, 3i64, 4i64, 5i64] } output { [1i64, 2i64, 3i64] }
-- input { 9i64 empty([0]i64) } output { empty([0]i64) }
entry outside (k: i64) (xs: []i64) = loop s = xs for _i < 3 do few (if k < 8 then xs else s)

-- ==
-- entry: initial
-- input { 2i64 [1i64, 2i64, 3i64, 4i64, 5i64] } output { [1i64, 2i64, 3i64, 4i64, 5i64] }
-- input { 9i64 [1i64, 2i64, 3i64, 4i64, 5i64] } output { [1i64, 2i64, 3i64] }
entry initial (k: i64) (xs: []i64) = loop s = few xs for _i < 3 do if k < 8 then xs else s

-- ==
-- entry: both
-- input { 2i64 [4i64, 2i64, 3i64, 4i64] } output { 9i64 }
-- input { 9i64 [4i64, 2i64] } output { 6i64 }
entry both (k: i64) (xs: []i64) =
  i64.sum (few (loop (s : []i64) = few xs for _i < 3 do few (if k < 8 then xs else s)))
