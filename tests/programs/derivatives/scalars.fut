-- The derivative of every scalar operation is near the slope of a chord, and what is not continuous has none.

def close (a: f64) (b: f64) : bool = f64.abs (a - b) <= 1e-6 * (1 + f64.abs b)

def chord (f: f64 -> f64) (x: f64) : f64 =
  let h = 1e-5 in (8 * (f (x + h) - f (x - h)) - (f (x + 2 * h) - f (x - 2 * h))) / (12 * h)

def agrees (f: f64 -> f64) (x: f64) : bool = close (jvp f x 1) (chord f x)

-- ==
-- entry: unary
-- input { [0.1, 0.3, 0.45, 0.77, 0.9] }
-- output { [true, true, true, true, true] }
entry unary (xs: []f64) =
  map (\x ->
         agrees f64.neg x && agrees f64.abs x && agrees f64.abs (-x)
         && agrees f64.sqrt x && agrees f64.rsqrt x && agrees f64.cbrt x
         && agrees f64.exp x && agrees f64.log x && agrees f64.log2 x
         && agrees f64.log10 x && agrees f64.log1p x && agrees f64.sin x
         && agrees f64.cos x && agrees f64.tan x && agrees f64.sinpi x
         && agrees f64.cospi x && agrees f64.tanpi (x / 2) && agrees f64.asin x
         && agrees f64.acos x && agrees f64.atan x && agrees f64.asinpi x
         && agrees f64.acospi x && agrees f64.atanpi x && agrees f64.sinh x
         && agrees f64.cosh x && agrees f64.tanh x && agrees f64.asinh x
         && agrees f64.acosh (x + 1) && agrees f64.atanh x && agrees f64.erf x
         && agrees f64.erfc x && agrees f64.recip x)
      xs

-- ==
-- entry: gammas
-- input { [0.3, 0.9, 2.5, 7.25, -0.4, -2.3] }
-- output { [true, true, true, true, true, true] }
entry gammas (xs: []f64) =
  map (\x -> agrees f64.gamma x && agrees f64.lgamma x) xs

-- ==
-- entry: binary
-- input { [0.3, 1.7, 2.6] [0.8, 0.4, 1.9] }
-- output { [true, true, true] }
entry binary [n] (xs: [n]f64) (ys: [n]f64) =
  let both (f: f64 -> f64 -> f64) x y = agrees (\x -> f x y) x && agrees (f x) y
  in map2 (\x y ->
             both (+) x y && both (-) x y && both (*) x y && both (/) x y
             && both (**) x y && both (%) x y && both f64.min x y
             && both f64.max x y && both f64.atan2 x y && both f64.atan2pi x y
             && both f64.hypot x y && both f64.copysign x y
             && agrees (\x -> f64.ldexp x 3) x
             && agrees (\x -> f64.lerp x y 0.3) x && agrees (\y -> f64.lerp x y 0.3) y
             && agrees (f64.lerp x y) 0.3
             && both (\x y -> f64.fma x y 2) x y && both (\x y -> f64.mad x 2 y) x y)
          xs ys

-- ==
-- entry: single
-- input { 2.0f32 } output { 12.0f32 0.25f32 }
entry single (x: f32) = (jvp (\x -> x * x * x) x 1, jvp (f64.f32 >-> f64.sqrt >-> f32.f64) 4f32 (x / 2))

-- ==
-- entry: half
-- input { 2.0f16 } output { 12.0f16 }
entry half (x: f16) = jvp (\x -> x * x * x) x 1

-- ==
-- entry: kinks
-- input { 0.0 } output { 0.0 0.0 0.0 0.0 1.0 0.0 1.0 0.0 }
entry kinks (x: f64) =
  ( jvp f64.abs x 1, jvp f64.floor x 1, jvp f64.sgn x 1, jvp (** 0.5) x 1
  , jvp (\(x, y) -> f64.max x y) (x, x) (1, 0), jvp (\(x, y) -> f64.max x y) (x, x) (0, 1)
  , jvp (\(x, y) -> f64.min x y) (x, x) (1, 0), jvp (\y -> x ** y) 2 1 )

-- ==
-- entry: discrete
-- input { 2.5 3i32 } output { false 1i64 2i32 0.0 }
entry discrete (x: f64) (k: i32) =
  (jvp (> 1) x 1, jvp i64.f64 x 1, jvp (* 2) k 1, jvp (f64.to_bits >-> f64.from_bits) x 1)
