-- Rows whose operators write where they find that something has its place: scatters and histograms of rows that a block of threads, or a
-- warp, works on.

-- Each row is sorted by its digits, of two bits each.
-- ==
-- entry: sorted
-- input { 3i64 7i64 } auto output
-- input { 0i64 5i64 } auto output
-- input { 3i64 0i64 } auto output
-- input { 9i64 33i64 } auto output
-- input { 2i64 300i64 } auto output
entry sorted (n: i64) (m: i64) : [n][m]i32 =
  let xss = #[opaque] (tabulate_2d n m (\i j -> i32.i64 ((i * 7919 + j * 104729) % 1009)))
  in map (\xs -> loop xs = copy xs for b < 10 do
                   let bits = map (\x -> i64.i32 ((x >> b) & 1)) xs
                   let ones = scan (+) 0 bits
                   let zeros = m - i64.sum bits
                   let places = map3 (\j bit one -> if bit == 1 then zeros + one - 1 else j - one) (iota m) bits ones
                   in scatter (replicate m 0) places xs)
         xss

-- Each row becomes how many of its numbers are at most as large: a histogram, its sums, and what they are for each number.
-- ==
-- entry: equalised
-- input { 3i64 7i64 } auto output
-- input { 3i64 0i64 } auto output
-- input { 9i64 33i64 } auto output
-- input { 2i64 700i64 } auto output
entry equalised (n: i64) (m: i64) : [n][m]i32 =
  let xss = #[opaque] (tabulate_2d n m (\i j -> (i * 7919 + j * 104729) % 61))
  in map (\xs -> let counts = hist (+) 0 61 xs (replicate m 1i32)
                 let sums = scan (+) 0 counts
                 in map (\x -> sums[x]) xs)
         xss

-- Operators of several kinds, some of which have no atomic operation, and places outside.
-- ==
-- entry: gathered
-- input { 3i64 7i64 5i64 } auto output
-- input { 3i64 0i64 5i64 } auto output
-- input { 3i64 9i64 0i64 } auto output
-- input { 9i64 33i64 8i64 } auto output
-- input { 2i64 700i64 40i64 } auto output
def first ((a, i): (i32, i64)) ((b, j): (i32, i64)) : (i32, i64) =
  if a < b || (a == b && i <= j) then (a, i) else (b, j)

entry gathered (n: i64) (m: i64) (k: i64) : ([n][k]f64, [n][k]u8, [n][k]i64, [n][k](i32, i64), [n][k]bool) =
  let xss = #[opaque] (tabulate_2d n m (\i j -> (i * 7919 + j * 104729) % 211))
  in unzip5 (map (\xs ->
       let ys = scan (+) 0 xs
       let is = map2 (\x y -> (x + y) % (k + 2) - 1) xs ys
       let sums = hist (+) 0 k is (map f64.i64 xs)
       let small = hist (+) 0 k is (map u8.i64 ys)
       let most = hist i64.max (-1) k is ys
       let least = hist first (i32.highest, i64.highest) k is (zip (map i32.i64 xs) (iota m))
       let odd = hist (!=) false k is (map (\y -> y % 2 == 1) ys)
       in (map2 (\s c -> s + f64.u8 c) sums small, small, most, least, odd))
     xss)

-- Several threads write the same to one place; arrays that are written are read before and after, by branches of their own.
-- ==
-- entry: marked
-- input { 4i64 9i64 } auto output
-- input { 5i64 40i64 } auto output
-- input { 3i64 500i64 } auto output
entry marked (n: i64) (m: i64) : ([n][m]i32, [n]i32) =
  let xss = #[opaque] (tabulate_2d n m (\i j -> (i * 31 + j * 17) % 23))
  in unzip (map (\xs ->
       let most = i64.maximum xs
       let start = map (\x -> i32.i64 (x - most)) xs
       let marks = if most % 2 == 0 || m < 10
                   then scatter (copy start) (map (\x -> x - 3) xs) (replicate m 7)
                   else let counts = hist (+) 0 5 (map (% 5) xs) (map i32.i64 xs)
                        in map2 (\s x -> s + counts[x % 5]) start xs
       in (map2 (+) start marks, i32.sum marks))
     xss)

-- What fails while a histogram is made is told once.
-- ==
-- entry: out_of_row
-- input { 4i64 32i64 } auto output
-- input { 5i64 32i64 } error: Index \[32\] out of bounds for array of shape \[32\]
-- input { 2i64 400i64 } error: Index \[400\] out of bounds for array of shape \[400\]
entry out_of_row (n: i64) (m: i64) : [n][8]i64 =
  let far = if n > 4 || m > 32 then 1 else 0
  let xss = #[opaque] (tabulate_2d n m (\i j -> i + j + 1))
  in map (\xs -> let ys = scan i64.max 0 xs
                 in hist (+) 0 8 (map (% 8) ys) (map (\j -> ys[j + (if j == m - 1 then far else 0)]) (iota m)))
         xss
