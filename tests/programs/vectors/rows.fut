-- Rows that points build in place, of any numbers of elements: neighbouring points have them in lanes.

def grown [n] 't (zero: t) (f: t -> t -> t) (xs: [n]t) : *[n]t =
  loop ys = replicate n zero for i < n do
    let last = if i == 0 then zero else ys[i - 1]
    in ys with [i] = copy (f last xs[i])

def back [n] 't (f: t -> t -> t) (ys: *[n]t) : *[n]t =
  loop ys = ys for k < n - 1 do
    let i = n - 2 - k
    in ys with [i] = copy (f ys[i] ys[i + 1])

def made 't (n: i64) (m: i64) (f: i64 -> t) : [n][m]t = tabulate_2d n m (\i j -> f (i * 7 + j * 3 % 5))

-- ==
-- entry: floats
-- input { 37i64 9i64 } auto output
-- input { 16i64 4i64 } auto output
-- input { 33i64 3i64 } auto output
-- input { 40i64 1i64 } auto output
-- input { 40i64 0i64 } auto output
-- input { 3i64 21i64 } auto output
entry floats (n: i64) (m: i64) : [n][m]f32 =
  map (\xs -> back (\a b -> a - 0.5 * b) (grown 0 (\a x -> (x - 0.25 * a) / (1 + x)) xs)) (made n m f32.i64)

-- ==
-- entry: doubles
-- input { 37i64 9i64 } auto output
-- input { 70i64 6i64 } auto output
entry doubles (n: i64) (m: i64) : [n][m]f64 =
  map (\xs -> back (\a b -> a - 0.5 * b) (grown 0 (\a x -> (x - 0.25 * a) / (1 + x)) xs)) (made n m f64.i64)

-- ==
-- entry: words
-- input { 37i64 9i64 } auto output
entry words (n: i64) (m: i64) : ([n][m]i64, [n][m]i32, [n][m]u8, [n][m]i16) =
  (map (\xs -> back (-) (grown 1 (\a x -> a + x) xs)) (made n m id),
   map (\xs -> back (-) (grown 1 (\a x -> a * x) xs)) (made n m i32.i64),
   map (\xs -> back (-) (grown 1 (\a x -> a + x) xs)) (made n m u8.i64),
   map (\xs -> back (^) (grown 1 (\a x -> a * x) xs)) (made n m i16.i64))

-- Two rows for each point, one of the other type, and a row that is read twice.
-- ==
-- entry: two
-- input { 37i64 9i64 } auto output
entry two (n: i64) (m: i64) : ([n][m]f32, [n][m]f64) =
  unzip (map (\xs ->
    let sums = grown 0 (+) xs
    let scaled = grown 0 (\a x -> a + x * 0.5) (map (\x -> f64.f32 (x + 1) * 2) xs)
    in (back (+) sums, scaled)) (made n m f32.i64))

-- Halves of rows are written by different loops, and read across.
-- ==
-- entry: halves
-- input { 37i64 4i64 } auto output
-- input { 37i64 0i64 } auto output
entry halves (n: i64) (m: i64) : [n][]i32 =
  map (\xs ->
    let ys = loop ys = replicate (m + m) 0 for i < m do ys with [i] = xs[i] + 1
    in loop ys = ys for i < m do ys with [m + i] = ys[i] * 2 + ys[m - 1 - i]) (made n m i32.i64)

-- Rows that start as copies, of which only some steps are taken, and elements that a choice writes.
-- ==
-- entry: copies
-- input { 37i64 9i64 4i64 } auto output
-- input { 37i64 9i64 0i64 } auto output
entry copies (n: i64) (m: i64) (k: i64) : [n][m]f32 =
  map (\xs -> loop ys = copy xs for i < k do
         let ys = if i % 2 == 0 then ys with [i] = ys[i] * 3 else ys
         in ys with [m - 1 - i] = ys[i] + ys[m - 1 - i]) (made n m f32.i64)

-- A step that fails for some points.
-- ==
-- entry: fails
-- input { 37i64 5i64 0i64 } auto output
-- input { 37i64 5i64 9i64 } error: Index
entry fails (n: i64) (m: i64) (by: i64) : [n][m]i32 =
  map (\xs -> loop ys = replicate m 0 for i < m do
         let j = i - (if xs[0] == 70 then by else 0)
         in ys with [j] = xs[i] + (if i == 0 then 0 else ys[i - 1])) (made n m i32.i64)

-- Orders of dimensions.
-- ==
-- entry: turned
-- input { 9i64 37i64 } auto output
entry turned (n: i64) (m: i64) : ([m][n]f32, [n][m]f32) =
  let rows = map (\xs -> grown 0 (\a x -> a * 0.5 + x) xs) (transpose (made n m f32.i64))
  in (rows, transpose (map (grown 1 (-)) rows))

-- Steps that read what is on both sides of them, where there is something.
-- ==
-- entry: beside
-- input { 37i64 9i64 } auto output
-- input { 40i64 1i64 } auto output
-- input { 3i64 0i64 } auto output
entry beside (n: i64) (m: i64) : [n][m]f32 =
  let xss = made n m f32.i64
  let near = tabulate_2d n m (\i j -> if j > 0 && j < m - 1 then xss[i, j - 1] - xss[i, j + 1] else 1)
  in tabulate n (\i -> grown 0 (\a x -> a * 0.5 + x) (map2 (+) xss[i] near[i]))

-- The last element of the row before is no neighbour.
-- ==
-- entry: over_ends
-- input { 37i64 5i64 } auto output
entry over_ends (n: i64) (m: i64) : [n][m]i32 =
  let xs = flatten (made n m i32.i64)
  in tabulate n (\i -> loop ys = replicate m 0 for j < m do
       let k = i * m + j
       in ys with [j] = xs[k] + (if k > 0 then xs[k - 1] else 0) + (if j == 0 then 0 else ys[j - 1]))
