-- Gradients of scalar code: the same partial derivatives as in forward mode, on another way.

def agrees (f: f64 -> f64) (x: f64) : bool =
  let d = jvp f x 1 in d != 0 && f64.abs (vjp f x 1 - d) <= 1e-14 * f64.abs d

-- ==
-- entry: unary
-- input { [0.1, 0.3, 0.45, 0.77, 0.9] }
-- output { [true, true, true, true, true] }
entry unary (xs: []f64) =
  map (\x ->
         agrees f64.neg x && agrees f64.abs (-x) && agrees f64.sqrt x
         && agrees f64.rsqrt x && agrees f64.exp x && agrees f64.log x
         && agrees f64.sin x && agrees f64.tan x && agrees f64.asin x
         && agrees f64.atan x && agrees f64.tanh x && agrees f64.erf x
         && agrees f64.gamma x && agrees (\x -> x * x / (1 + x)) x
         && agrees (\x -> if x < 0.4 then x ** 3 else f64.sin (x * x)) x)
      xs

-- ==
-- entry: binary
-- input { 3.0 2.0 } output { 2.0 3.0 0.5 -0.75 12.0 1.0 0.0 }
entry binary (x: f64) (y: f64) =
  let (a, b) = vjp (\(x, y) -> x * y) (x, y) 1
  let (c, d) = vjp (\(x, y) -> x / y) (x, y) 1
  let (e, f) = vjp (\(x, y) -> f64.max x y) (x, y) 1
  in (a, b, c, d, vjp (** 2) x y, e, f)

-- ==
-- entry: powers
-- input { 0.0 1.0 } output { 1.0 0.0 } input { 0.0 0.0 } output { 0.0 0.0 }
entry powers (x: f64) (y: f64) = vjp (\(x, y) -> x ** y) (x, y) 1

-- ==
-- entry: discrete
-- input { 2.5 3i32 } output { 0.0 1.0 0.0 2i32 0i32 }
entry discrete (x: f64) (k: i32) =
  ( vjp (> 1) x true, vjp i64.f64 x 1, vjp (\x -> f64.i64 (i64.f64 x)) x 1
  , vjp (* 2) k 1, vjp f64.i32 k 1 )

-- ==
-- entry: nested
-- input { 2.0 } output { 48.0 48.0 48.0 24.0 }
entry nested (x: f64) =
  let f x = x * x * x * x
  in ( jvp (\x -> vjp f x 1) x 1, vjp (\x -> jvp f x 1) x 1
     , vjp (\x -> vjp f x 1) x 1, vjp (\x -> jvp (\x -> vjp f x 1) x 1) x 0.5 )

-- The inner derivative does not see the variable of the outer one.
-- ==
-- entry: apart
-- input { 3.0 } output { 1.0 1.0 }
entry apart (x: f64) =
  (vjp (\x -> x * vjp (\y -> x + y) 1 1) x 1, vjp (\x -> x * jvp (\y -> x + y) 1 1) x 1)
