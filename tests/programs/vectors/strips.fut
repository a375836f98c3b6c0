-- Loops that count up to a limit, which is the same for all lanes, and that lanes leave before it at any steps: on CPUs they take some steps
-- with one look at the lanes, where so many are left.

-- ==
-- entry: escape
-- input { 130i64 200 } auto output
-- input { 130i64 1000 } auto output
-- input { 33i64 9 } auto output
-- input { 33i64 8 } auto output
-- input { 33i64 7 } auto output
-- input { 33i64 6 } auto output
-- input { 33i64 5 } auto output
-- input { 33i64 4 } auto output
-- input { 33i64 1 } auto output
-- input { 33i64 0 } auto output
-- input { 33i64 -3 } auto output
-- input { 33i64 -2147483648 } auto output
-- input { 0i64 10 } auto output
-- input { 1i64 100 } auto output
entry escape (n: i64) (limit: i32) : [n]i32 =
  map (\i -> let c = 3 * f32.i64 i / f32.i64 n - 2
             in (loop (zr, zi, k) = (0f32, 0f32, 0i32) while k < limit && zr * zr + zi * zi <= 4 do
                   (zr * zr - zi * zi + c, 2 * zr * zi + 0.3, k + 1)).2) (iota n)

-- The condition has its parts the other way round; what lanes carry last is read, too.
-- ==
-- entry: kept
-- input { 100i64 40 } auto output
-- input { 100i64 41 } auto output
-- input { 100i64 42 } auto output
-- input { 100i64 2 } auto output
entry kept (n: i64) (limit: i32) : ([n]i32, [n]f32, [n]i32) =
  unzip3 (map (\i -> let c = f32.i64 i / f32.i64 n
                     let (_, last, k, odd) =
                       loop (x, before, k, odd) = (c, 0f32, 0i32, 7i32) while x < 3 && k < limit do
                         (x * 1.0625 + c * 0.125, x, k + 1, odd ^ k)
                     in (k, last, odd)) (iota n))

-- Counters of 64 bits that begin anywhere, with numbers of 64 bits, and of two widths.
-- ==
-- entry: from
-- input { 70i64 0i64 25i64 } auto output
-- input { 70i64 -5i64 25i64 } auto output
-- input { 70i64 9223372036854775790i64 9223372036854775807i64 } auto output
-- input { 70i64 9223372036854775805i64 9223372036854775807i64 } auto output
-- input { 70i64 -9223372036854775808i64 -9223372036854775790i64 } auto output
-- input { 70i64 -9223372036854775808i64 9223372036854775807i64 } auto output
-- input { 70i64 9223372036854775807i64 -9223372036854775808i64 } auto output
entry from (n: i64) (first: i64) (limit: i64) : ([n]i64, [n]i64) =
  unzip (map (\i -> let c = f64.i64 (i % 37) / 37
                    let d = f32.i64 i
                    let (_, k) = loop (x, k) = (c, first) while k < limit && x < 2 do (x * 1.25 + c + 0.03125, k + 1)
                    let (_, _, l) =
                      loop (x, y, l) = (c, d, first) while l < limit && x < 2 do
                        (x * 1.25 + f64.f32 y * 0.001, y * 0.5 + 1, l + 1)
                    in (k, l)) (iota n))

-- The counter is computed with, and lanes begin apart, so that there is no one number of steps.
-- ==
-- entry: apart
-- input { 90i64 30 } auto output
-- input { 90i64 3 } auto output
entry apart (n: i64) (limit: i32) : ([n]i32, [n]i32) =
  unzip (map (\i -> let c = f32.i64 i / f32.i64 n
                    let (_, k) = loop (x, k) = (c, i32.i64 i % 5) while k < limit && x < 4 do (x + c * 0.5, k + 1)
                    let (_, l) = loop (x, l) = (c, 0i32) while l < limit && x < 4 do (x + c * f32.i32 l, l + 1)
                    in (k, l)) (iota n))

-- Nothing counts the steps, of which several are taken with one look at who is inside.
-- ==
-- entry: fives
-- input { [3f64, 17.5f64, 5f64, 24f64, -1f64, f64.nan, 0f64] } output { [3f64, 2.5f64, 0f64, 4f64, -1f64, f64.nan, 0f64] }
-- input { empty([0]f64) } output { empty([0]f64) }
-- compiled random input { [1003]f64 } auto output
entry fives [n] (xs: [n]f64) : [n]f64 = map (\x -> loop x while x >= 5 do x - 5) xs

-- ==
-- entry: halvings
-- random input { [1003]i32 } auto output
-- input { [0i32, 1i32, 2i32, 7i32, 8i32, -5i32, 2147483647i32] } auto output
entry halvings [n] (xs: [n]i32) : ([n]i32, [n]i32) =
  unzip (map (\x -> loop (x, n) = (x, 0) while x > 3 do (x >> 1, n + 1)) xs)

-- ==
-- entry: halved
-- random input { [1003]u32 } auto output
entry halved [n] (xs: [n]u32) : [n]i32 =
  map (\x -> (loop (x, n) = (x, 0) while x > 3 do (x >> 1, n + 1)).1) xs
