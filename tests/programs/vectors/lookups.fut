-- Bytes that are looked up in tables of one element for each byte, which are in registers where there are such registers.

-- Numbers that look like chance.
def mix (i: i64): i64 = let x = i * 6364136223846793005 + 1442695040888963407 in (x >> 33) ^ (x >> 17)

-- ==
-- entry: unsigned
-- input { 3i64 empty([0]u8) } auto output
-- random input { 5i64 [1]u8 } auto output
-- random input { 7i64 [63]u8 } auto output
-- random input { 7i64 [64]u8 } auto output
-- random input { -1i64 [200]u8 } auto output
-- random input { 11i64 [1000]u8 } auto output
entry unsigned (k: i64) (xs: []u8) =
  let table = tabulate 256 (\v -> u8.i64 (mix (v * k)))
  in map (\x -> table[i64.u8 x]) xs

-- ==
-- entry: signed
-- random input { 3i64 [300]u8 } auto output
entry signed (k: i64) (xs: []u8) =
  let table = tabulate 256 (\v -> i8.i64 (mix (v + k)))
  in map (\x -> table[i64.u8 (x ^ 0x5a)] + 1) xs

-- Longer than a byte can say, and looked up with what was looked up.
-- ==
-- entry: twice
-- random input { 9i64 [500]u8 } auto output
entry twice (k: i64) (xs: []u8) =
  let table = tabulate 300 (\v -> u8.i64 (mix (v + k)))
  let other = tabulate 256 (\v -> u8.i64 (v * v + k))
  in map (\x -> other[i64.u8 table[i64.u8 x]] ^ table[i64.u8 (x + 1)]) xs

-- ==
-- entry: again
-- random input { 9i64 4i64 [130]u8 } auto output
-- random input { 9i64 0i64 [130]u8 } auto output
entry again (k: i64) (times: i64) (xs: []u8) =
  let table = tabulate 256 (\v -> u8.i64 (mix (v + k)))
  in map (\x -> loop x for i < times do table[i64.u8 x] + u8.i64 i) xs

-- The index is also a number, or from another type, and what is found has another width.
-- ==
-- entry: both
-- random input { 9i64 [150]u8 } auto output
entry both (k: i64) (xs: []u8) =
  let table = tabulate 256 (\v -> u8.i64 (mix (v + k)))
  in (map (\x -> let i = i64.u8 x in i * 1000 + i64.u8 table[i]) xs, map (\x -> i32.u8 table[i64.u8 x] * 3) xs)

-- ==
-- entry: rows
-- random input { 9i64 [5][70]u8 } auto output
-- random input { 9i64 [40][3]u8 } auto output
entry rows (k: i64) (xss: [][]u8) =
  let table = tabulate 256 (\v -> u8.i64 (mix (v + k)))
  in map (map (\x -> table[i64.u8 x])) xss

-- Tables that are too short for some bytes.
-- ==
-- entry: short
-- random input { 100u8 [100]u8 } auto output
-- input { 200u8 [3u8, 127u8, 128u8, 4u8] } error: out of bounds
entry short (most: u8) (xs: []u8) =
  let table = tabulate 128 (\v -> u8.i64 (v * v))
  in map (\x -> table[i64.u8 (u8.min x most)]) xs
