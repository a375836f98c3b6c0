-- Loops inside of maps that neighbouring points share reads in: back ends work on them in tiles. Sums are of small integers, so
-- that they are exact in any order; each entry tells whether what it computes is what the same sum gives elsewhere. What is tested stands in functions that are not
-- inlined, so that nothing is fused with it.

def left (n: i64) (m: i64): [n][m]f32 =
  tabulate_2d n m (\i k -> f32.i64 ((i * 7 + k * 3) % 11 - 5))

def right (m: i64) (p: i64): [m][p]f32 =
  tabulate_2d m p (\k j -> f32.i64 ((k * 5 + j * 2) % 13 - 6))

-- What the product must be at a point.
def entry_of (m: i64) (i: i64) (j: i64): f32 =
  f32.i64 (i64.sum (map (\k -> ((i * 7 + k * 3) % 11 - 5) * ((k * 5 + j * 2) % 13 - 6)) (iota m)))

def agree [n][p] (xs: [n][p]f32) (f: i64 -> i64 -> f32): bool =
  and (flatten (tabulate_2d n p (\i j -> xs[i, j] == f i j)))

-- A product of matrices. Tiles are not whole, or there is just one, or none.
#[noinline]
def product_of [n][m][p] (a: [n][m]f32) (b: [m][p]f32): [n][p]f32 =
  map (\xs -> map (\ys -> f32.sum (map2 (*) xs ys)) (transpose b)) a

-- ==
-- entry: product
-- input { 40i64 37i64 45i64 } output { true }
-- input { 65i64 16i64 64i64 } output { true }
-- input { 17i64 300i64 17i64 } output { true }
-- input { 3i64 5i64 2i64 } output { true }
-- input { 40i64 0i64 40i64 } output { true }
-- input { 0i64 40i64 40i64 } output { true }
-- input { 40i64 40i64 0i64 } output { true }
entry product (n: i64) (m: i64) (p: i64): bool =
  agree (product_of (left n m) (right m p)) (entry_of m)

-- The same, of the second one transposed, as a loop, with something before the loop and after it.
#[noinline]
def product_by_rows_of [n][m][p] (a: [n][m]f32) (b: [p][m]f32): [n][p]f32 =
  tabulate_2d n p (\i j ->
    let start = f32.i64 (i - j)
    let sum = loop acc = start for k < m do acc + a[i, k] * b[j, k]
    in 2 * sum + f32.i64 i)

-- ==
-- entry: product_by_rows
-- input { 40i64 37i64 45i64 } output { true }
-- input { 33i64 0i64 33i64 } output { true }
entry product_by_rows (n: i64) (m: i64) (p: i64): bool =
  let b = tabulate_2d p m (\j k -> f32.i64 ((k * 5 + j * 2) % 13 - 6))
  in agree (product_by_rows_of (left n m) b) (\i j -> 2 * (entry_of m i j + f32.i64 (i - j)) + f32.i64 i)

-- Several products at once, in double precision; two values are carried, which change places. On CPUs tiles of many products are larger.
#[noinline]
def products_of [l][n][m][p] (a: [l][n][m]f64) (b: [m][p]f64): [l][n][p]f64 =
  tabulate_3d l n p (\h i j ->
    let (x, y) = loop (x, y) = (0, 1) for k < m do (y, x + a[h, i, k] * b[k, j])
    in x + 3 * y)

-- ==
-- entry: products
-- input { 3i64 36i64 20i64 34i64 } output { true }
-- input { 33i64 9i64 290i64 18i64 } output { true }
-- input { 8i64 130i64 8i64 140i64 } output { true }
-- input { 32i64 66i64 8i64 130i64 } output { true }
entry products (l: i64) (n: i64) (m: i64) (p: i64): bool =
  let a = tabulate l (\h -> map (map (\x -> f64.f32 x + f64.i64 h)) (left n m))
  let c = products_of a (map (map f64.f32) (right m p))
  let sum h i j r = i64.sum (map (\k -> if k % 2 == r
                                        then ((i * 7 + k * 3) % 11 - 5 + h) * ((k * 5 + j * 2) % 13 - 6)
                                        else 0) (iota m))
  -- What even steps add is the first of the two after an even number of steps.
  in and (flatten (flatten (tabulate_3d l n p (\h i j ->
       let (even, odd) = (sum h i j 0, 1 + sum h i j 1)
       let (x, y) = if m % 2 == 0 then (even, odd) else (odd, even)
       in c[h, i, j] == f64.i64 (x + 3 * y)))))

-- Everybody meets everybody, and the least distance counts; the counter itself is used.
#[noinline]
def nearest_of [n][m] (xs: [n]i64) (ys: [m]i64): [n]i64 =
  let meet x = loop (best, least) = (-1, 1000) for k < m do
                 let d = i64.abs (x - ys[k])
                 in if d < least then (k, d) else (best, least)
  in map (\x -> (meet x).0) xs

-- ==
-- entry: nearest
-- input { 1000i64 300i64 } output { true }
-- input { 200i64 30i64 } output { true }
-- input { 10i64 10i64 } output { true }
entry nearest (n: i64) (m: i64): bool =
  let xs = tabulate n (\i -> (i * 37) % 101)
  let ys = tabulate m (\k -> (k * 53) % 211)
  let expected = map (\x -> let least = i64.minimum (map (\y -> i64.abs (x - y)) ys)
                            in i64.minimum (map2 (\k y -> if i64.abs (x - y) == least then k else m) (iota m) ys)) xs
  in and (map2 (==) (nearest_of xs ys) expected)

-- Sums of rows: each thread follows its own row, whose neighbours are in the next steps.
#[noinline]
def rows_of [n][m] (a: [n][m]f32): [n]f32 =
  tabulate n (\i -> loop acc = 1f32 for k < m do acc + a[i, k])

-- ==
-- entry: rows
-- input { 300i64 17i64 } output { true }
-- input { 256i64 16i64 } output { true }
entry rows (n: i64) (m: i64): bool =
  let expected = tabulate n (\i -> 1 + f32.i64 (i64.sum (map (\k -> (i * 7 + k * 3) % 11 - 5) (iota m))))
  in and (map2 (==) (rows_of (left n m)) expected)

-- What some steps leave out, which a vector of truth values says.
#[noinline]
def some_of [n][m][p] (a: [n][m]f32) (b: [m][p]f32) (keep: [m]bool): [n][p]f32 =
  tabulate_2d n p (\i j -> loop acc = 0f32 for k < m do
                             let (x, y) = (a[i, k], b[k, j])
                             in if keep[k] then acc + x * y else acc)

-- ==
-- entry: some
-- input { 50i64 40i64 60i64 } output { true }
entry some (n: i64) (m: i64) (p: i64): bool =
  let keep = tabulate m (\k -> k % 3 != 1)
  let sum i j = i64.sum (map (\k -> if k % 3 == 1 then 0
                                    else ((i * 7 + k * 3) % 11 - 5) * ((k * 5 + j * 2) % 13 - 6)) (iota m))
  in agree (some_of (left n m) (right m p) keep) (\i j -> f32.i64 (sum i j))
