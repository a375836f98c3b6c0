-- A sparse matrix times a vector, k times over: n entries in rows of 0 to 62, 31 of them on average.
def rows (n: i64) : i64 = n / 31

def length (i: i64) : i64 = i * 7919 % 63

-- ==
-- input { 10000i64 2i64 } auto output
entry main (n: i64) (k: i64) : f32 =
  let m = i64.max 1 (rows n)
  let lengths = map length (iota m)
  let entries = i64.sum lengths
  -- Columns near the diagonal and far from it, and small whole numbers: sums are exact.
  let column e = if e % 2 == 0 then (e / 31 + e % 64) % m else e * 7919 % m
  let matrix = segment lengths (map (\e -> (i32.i64 (column e), f32.i64 (e % 4))) (iota entries))
  let xs = map (\i -> f32.i64 (i % 8)) (iota m)
  let ys = loop ys = xs for _i < k do
             let products = map (\row -> f32.sum (map (\(j, a) -> a * ys[j]) row)) matrix
             in map (\p -> f32.i64 (i64.f32 p % 8)) products
  in f32.sum ys
