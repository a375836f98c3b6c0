-- Host loops over operators of a constant small width, which one block or one thread executes: alone, with a condition, around a function that
-- has arrays of its own.
#[noinline] def slope (x: f64) : f64 =
  vjp (\x -> loop y = x while y < 9 do y + f64.sum (map (\c -> f64.sqrt (c + y)) [1, x])) x 1

-- ==
-- entry: counted until calling
-- input { 2.0 3i64 }
-- input { 0.5 1i64 }
-- input { 1.0 40i64 }
entry counted (z: f64) (k: i64) =
  loop x = z for _i < k do x + 0.25 * f64.sum (map (\c -> f64.sqrt (c + x)) [1, z])

entry until (z: f64) (_: i64) =
  loop (x, i) = (z, 0i32) while x < 20 do (x + f64.maximum (map (\c -> f64.sqrt (c + x)) [1, z, 3]), i + 1)

entry calling (z: f64) (_: i64) =
  -- Gradients are sums, of which the order is not the interpreter's.
  f64.round (1e9 * (loop (x, ys, i) = (z, [z, z], 0i32) while i < 3 do
                      let y = f64.sum (map (\c -> f64.sqrt (c + x)) ys)
                      in (y / 4 + slope x / 100, map2 (\y c -> y + c * x) ys [1, 2], i + 1)).0)
