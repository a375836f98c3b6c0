-- Attributes that ask for a way of running, wherever they may stand: results are the same.

-- ==
-- entry: flattened
-- input { [[1, 2], [3, 4]] } output { [3, 7] [[1, 3], [3, 7]] [[2, 4], [6, 8]] }
entry flattened (xss: [][]i32) =
  let sums = #[flattening(only_outer)] map (\xs -> #[flattening(no_intra)] i32.sum xs) xss
  let scans = #[flattening(only_inner)] map (\xs -> #[sequential] scan (+) 0 xs) xss
  let twice = #[flattening(no_outer)] map (\xs -> #[flattening(only_intra)] map (* 2) xs) xss
  in (sums, scans, twice)

-- ==
-- entry: several
-- input { 3 } output { 13 }
#[noinline]
entry several (n: i32) : i32 =
  let x = #[unsafe] #[sequential_outer] reduce (+) 0 (map i32.i64 (iota 5))
  in #[unroll] loop acc = x for i < 3 do acc + i - n + n
