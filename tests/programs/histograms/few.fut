-- Histograms that count in few buckets, or in how many turns out when they are made: points beyond them on either side, indices of several types, and
-- what is added besides one.

let numbers (n: i64) (k: i64) : [n]i64 = map (\i -> (i * i * 7 + i / 3) % (k + 4) - 2) (iota n)

-- ==
-- entry: counted
-- input { 300000i64 5i64 } auto output
-- input { 300000i64 1i64 } auto output
-- input { 300000i64 32i64 } auto output
-- input { 300000i64 33i64 } auto output
-- input { 300000i64 0i64 } auto output
-- input { 1000i64 7i64 } auto output
-- input { 63i64 7i64 } auto output
-- input { 0i64 7i64 } auto output
entry counted (n: i64) (k: i64) : ([k]i32, [k]i64) =
  let is = numbers n k
  in (hist (+) 0 k is (replicate n 1i32), hist (+) 0 k is (replicate n (-3i64)))

-- ==
-- entry: of_words
-- script input { let is = words 300000i64 6i64 in (6i64, is) } auto output
-- script input { let is = words 200001i64 31i64 in (31i64, is) } auto output
-- script input { let is = words 200001i64 300i64 in (300i64, is) } auto output
-- script input { let is = words 130i64 3i64 in (3i64, is) } auto output
entry of_words [n] (k: i64) (is: [n]i32) : [k]i32 = hist (+) 0 k (map i64.i32 is) (replicate n 1i32)
entry words (n: i64) (k: i64) : [n]i32 = map (\i -> i32.i64 i - (if i % 5 == 0 then 1000 else 0)) (numbers n k)

-- ==
-- entry: of_bytes
-- script input { let is = bytes 300000i64 9i64 in (9i64, is) } auto output
-- script input { let is = bytes 300000i64 90i64 in (90i64, is) } auto output
entry of_bytes [n] (k: i64) (is: [n]u8) : [k]u16 = hist (+) 0 k (map i64.u8 is) (replicate n 1u16)
entry bytes (n: i64) (k: i64) : [n]u8 = map u8.i64 (numbers n k)

-- Of constants, and of wide numbers that are no words.
-- ==
-- entry: known
-- script input { wide 300000i64 } auto output
entry known [n] (is: [n]i64) : ([6]i32, [32]i64, [40]i32) =
  (hist (+) 0 6 is (replicate n 1i32), hist (+) 0 32 is (replicate n 5i64), hist (+) 0 40 is (replicate n 1i32))
entry wide (n: i64) : [n]i64 = map (\i -> if i % 7 == 3 then i * 4294967296 + i % 6 else i % 41) (iota n)
