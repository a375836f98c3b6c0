-- Floats that are affine in an index: exact while it is small, so that each is found from the first by one product and sum. Signs of zeros
-- are looked at, too.

let bits (x: f64) : u64 = f64.to_bits x

-- ==
-- entry: mixed
-- input { 0i64 } auto output
-- input { 1i64 } auto output
-- input { 37i64 } auto output
-- input { 1000i64 } auto output
entry mixed (n: i64) : ([n]f64, [n]f64, [n]u64) =
  unzip3 (tabulate n (\i -> let (x, y) = (f64.i64 i, f64.i64 (i + 1))
                            let ahead = 0.75 * y - x * 0.5
                            let behind = f64.i64 (3 * i - 20) + 2 * y
                            in (ahead * behind, ahead / f64.sqrt (y + x), bits behind)))

-- Zeros of either sign, which only products with negative numbers and with zero make negative.
-- ==
-- entry: zeros
-- input { 100i64 } auto output
entry zeros (n: i64) : ([n]u64, [n]u64) =
  let two (x: f64) (y: f64) = (bits x >> 63) * 2 + (bits y >> 63)
  let more (s: u64) (x: f64) (y: f64) = 4 * s + two x y
  in unzip (tabulate n (\i -> let (x, y) = (f64.i64 (i - 20), f64.i64 (i - 19))
                              in (more (more (more (two (x - x) ((y - 1) - x)) (y * 0) (0 - x)) (-x) (x * (-1)))
                                       (y * (-0.5) - 1.5 * y) (y + (-x) - 1),
                                  bits ((y - 1) * (-2)) ^ (bits (2 - 2 * y) >> 1))))

-- Some numbers that are not affine: of two indices, of constants with too many digits, of large multiples.
-- ==
-- entry: others
-- input { 30i64 70i64 } auto output
entry others (n: i64) (m: i64) : [n][m]u64 =
  tabulate_2d n m (\i j -> let (x, y) = (f64.i64 i, f64.i64 (j + 2))
                           let (u, v) = (f64.i64 (2 * i + 1) * 0.25, f64.i64 (5 - j) - 0.25 * y)
                           let w = (x + y) * 0.5 + (x * 0.1 + y * 0.3) - (u * v - 0.7 * f64.i64 (j * 5000000000000))
                           in bits (w + f64.i64 (i * j) - f64.i64 (9 * j + 4) * 3))

-- ==
-- entry: cross
-- input { 5i64 } auto output
-- input { 40i64 } auto output
-- input { 16i64 } auto output
entry cross (n: i64) : f64 =
  f64.sum (tabulate n (\i -> let (x, y) = (f64.i64 i, f64.i64 (i + 1))
                             in (0.75 * y - 0.5 * x) * (y - 0.25 * x) - (2 * y - 0.25 * x) * (x - 0.5 * x)))

-- Past the limit of what is exact only where there are very many points.
-- ==
-- entry: far
-- input { 50i64 } auto output
entry far (n: i64) : u64 =
  reduce (^) 0 (tabulate n (\i -> let (x, y) = (f64.i64 i, f64.i64 (i + 1)) in bits ((x * 134217723 + y) - x)))

-- The same of what others are computed from, which is rounded first.
-- ==
-- entry: farther
-- input { 50i64 } auto output
entry farther (n: i64) : u64 =
  reduce (^) 0 (tabulate n (\i -> let (x, y) = (f64.i64 i, f64.i64 (i + 1)) in bits ((x * 134217721 - x * 134217720) + y)))
