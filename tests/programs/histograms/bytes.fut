-- Histograms of bytes of which there are many, which each thread counts in tables of its own.

def mix (i: i64): i64 = let x = i * 6364136223846793005 + 1442695040888963407 in (x >> 33) ^ (x >> 17)

-- ==
-- entry: counts
-- input { 100000i64 1i64 } auto output
-- input { 60001i64 16i64 } auto output
-- input { 30i64 1i64 } auto output
entry counts (n: i64) (step: i64) =
  let pixels = tabulate n (\i -> u8.i64 (mix (i / step)))
  let levels = map i64.u8 pixels
  in ( reduce_by_index (replicate 256 5i64) (+) 0 levels (replicate n 1)
     , reduce_by_index (replicate 256 0i32) (+) 0 levels (map i32.u8 pixels)
     , reduce_by_index (replicate 200 7u8) (+) 0 levels pixels
     , reduce_by_index (replicate 40 0i16) (+) 0 (map (\v -> v / 4 - 10) levels) (map (\v -> i16.u8 v - 100) pixels))
