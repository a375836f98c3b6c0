-- Choices of floats inside of branches: a bound to both sides, a choice of a choice, and the quotients of integers that find a colour.
-- ==
-- entry: bounded
-- input { 0i64 } auto output
-- input { 7i64 } auto output
-- input { 1003i64 } auto output
def bound 't (less: t -> t -> bool) (low: t) (high: t) (x: t) = if less x low then low else if less high x then high else x

entry bounded (n: i64) : ([n]f32, [n]f64) =
  let xs = #[opaque] (tabulate n (\i -> f32.i64 (i * 7919 % 2003) / 1000))
  in unzip (map (\x ->
       let y = if x > 0.5 then bound (<) 0.6 1.5 (x * x) * 3 else f32.sqrt x
       let z = if y < 1 then bound (<) 0.25 0.75 (f64.f32 y * 1.5) else f64.f32 y / 3
       in (y, z)) xs)

-- The signs of zero, infinities, and numbers that are none, on either side.
-- ==
-- entry: extremes
-- input { [0f32, -0f32, 1f32, -1f32, f32.inf, -f32.inf, f32.nan, 0.5f32, 2f32] } auto output
entry extremes [n] (xs: [n]f32) : [n]u32 =
  let ys = concat xs (map (\x -> x - 1) xs)
  let y i x = if x == x then (if x > 0 then f32.min x 3 else if x < -0.75 then ys[n + i] else x * x) else 5
  in map2 (\i x -> f32.to_bits (y i x)) (iota n) xs

-- Quotients and rests by constants, towards zero and down, of both signs.
-- ==
-- entry: quotients
-- input { 1i64 } auto output
-- input { 900i64 } auto output
entry quotients (n: i64) : ([n]f32, [n]f32) =
  let xs = #[opaque] (tabulate n (\i -> i32.i64 (i * 104729 % 8191) - 4000))
  in unzip (map (\x ->
       let a = if x % 3 == 0 then f32.i32 (x %% 512) / 512 else f32.i32 (x // 7)
       let b = if x > 100 then (if x > 2000 then f32.i32 (x / 16 + x % 10) else f32.i32 (x / -1)) else f32.i32 (x // 8 - x %% 8)
       in (a, b)) xs)

-- Small powers, constant ones among them.
-- ==
-- entry: powers
-- input { 257i64 } auto output
entry powers (n: i64) : ([n]f32, [n]f64) =
  let xs = #[opaque] (tabulate n (\i -> f64.i64 (i - 100) / 16))
  in unzip (map (\x ->
       let y = f32.f64 x
       in (if y > 1 then (1 - y) ** 2 + y ** 3 else y ** 2 - y ** (-2),
           if x < 2 then x ** (-1) + x ** 2 else x ** 0.5 + x ** 2.5)) xs)
