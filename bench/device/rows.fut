-- Rows whose operators hand on what they make, for blocks.sh: n rows of m elements.

def rows (n: i64) (m: i64) = tabulate_2d n m (\i j -> f32.i64 ((i * 7919 + j * 104729) % 10007) / 10007)

entry given (n: i64) (m: i64) : [n][m]f32 = rows n m

entry soft_maximum [n] [m] (xss: [n][m]f32) : [n][m]f32 =
  map (\xs -> let most = f32.maximum xs
              let es = map (\x -> f32.exp (x - most)) xs
              let s = f32.sum es
              in map (/ s) es) xss

entry normalised [n] [m] (xss: [n][m]f32) : [n][m]f32 =
  map (\xs -> let mean = f32.sum xs / f32.i64 m
              let ys = map (\x -> x - mean) xs
              let var = f32.sum (map (\y -> y * y) ys) / f32.i64 m
              in map (/ f32.sqrt (var + 1e-5)) ys) xss

-- Ten steps, each a scan of affine functions and a map, as where tridiagonal systems are solved in a loop through time.
entry recurrences [n] [m] (xss: [n][m]f32) : [n][m]f32 =
  map (\xs -> loop xs = copy xs for _k < 10 do
                let ys = scan (\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\x -> (0.5, x)) xs)
                in map2 (\x (_, y) -> 0.25 * (x + y)) xs ys) xss

-- Rows of numbers below 2^16.
entry numbers (n: i64) (m: i64) : [n][m]i32 = tabulate_2d n m (\i j -> i32.i64 ((i * 7919 + j * 104729) % 65536))

-- Each row becomes how many of its numbers are in the same of 256 ranges or in one before.
entry equalised [n] [m] (xss: [n][m]i32) : [n][m]i32 =
  map (\xs -> let counts = hist (+) 0 256 (map (\x -> i64.i32 (x >> 8)) xs) (replicate m 1i32)
              let sums = scan (+) 0 counts
              in map (\x -> sums[i64.i32 (x >> 8)]) xs) xss

-- The same with sums of floats, which have no atomic operation whose order does not show.
entry weighted [n] [m] (xss: [n][m]i32) : [n][m]f32 =
  map (\xs -> let weights = hist (+) 0 256 (map (\x -> i64.i32 (x >> 8)) xs) (map (\x -> f32.i32 x / 65536) xs)
              let all = f32.sum weights
              in map (\x -> weights[i64.i32 (x >> 8)] / all) xs) xss

-- Each row sorted, one bit after another.
entry sorted [n] [m] (xss: [n][m]i32) : [n][m]i32 =
  map (\xs -> loop xs = copy xs for b < 16 do
                let bits = map (\x -> i64.i32 ((x >> b) & 1)) xs
                let ones = scan (+) 0 bits
                let zeros = m - i64.sum bits
                let places = map3 (\j bit one -> if bit == 1 then zeros + one - 1 else j - one) (iota m) bits ones
                in scatter (replicate m 0) places xs) xss
