-- A sparse matrix of n entries times a vector, k times over: with rows of 9 entries on the average, of 100 entries, and with four fifths of
-- all entries in one row.
def products [m] (lengths: [m]i64) (k: i64) : f32 =
  let row i l = map (\j -> (i32.i64 ((i + 7 * j) % m), 0.01 * f32.i64 (1 + j % 3))) (iota l)
  let matrix = map2 row (iota m) lengths
  let x = loop x = replicate m 1 for _i < k do
    map (\entries -> f32.sum (map (\(j, a) -> a * x[j]) entries)) matrix
  in x[m / 2]

entry short (n: i64) (k: i64) : f32 = products (map (\i -> 1 + i * 7919 % 17) (iota (n / 9))) k
entry long (n: i64) (k: i64) : f32 = products (map (\i -> 10 + i * 7919 % 181) (iota (n / 100))) k

entry one (n: i64) (k: i64) : f32 =
  let m = n / 45
  in products (map (\i -> if i == m / 2 then n / 5 * 4 else 1 + i * 7919 % 17) (iota m)) k
