-- Rows that lie elsewhere for every point, and of which the steps of a loop read an element each: they are turned into columns, some steps at a time.
def at (i: i64) (span: i64) : i64 = (i * 7 + (i >> 2)) & span

-- ==
-- entry: floats
-- random input { 100i64 [200]f64 [200]f32 0i64 } auto output
-- random input { 100i64 [200]f64 [200]f32 1i64 } auto output
-- random input { 100i64 [200]f64 [200]f32 4i64 } auto output
-- random input { 100i64 [200]f64 [200]f32 16i64 } auto output
-- random input { 100i64 [200]f64 [200]f32 18i64 } auto output
-- random input { 100i64 [200]f64 [200]f32 35i64 } auto output
-- random input { 67i64 [200]f64 [200]f32 137i64 } auto output
-- random input { 67i64 [200]f64 [200]f32 140i64 } error: out of bounds
-- random input { 67i64 [143]f64 [200]f32 80i64 } auto output
-- random input { 67i64 [142]f64 [200]f32 80i64 } error: out of bounds
-- random input { 0i64 [0]f64 [0]f32 16i64 } auto output
-- random input { 1i64 [0]f64 [0]f32 16i64 } error: out of bounds
entry floats [n] [m] (points: i64) (xs: [n]f64) (ys: [m]f32) (steps: i64) : [points](f64, f32) =
  let of i =
    let k = at i 63
    let x = loop x = 0 for t < steps do 0.5 * x + xs[k + t]
    let y = loop y = 0 for t < steps do 0.5 * y + ys[k + t] * ys[k + t]
    in (x, y)
  in tabulate points of

-- ==
-- entry: integers
-- random input { 100i64 [200]i32 [200]i64 16i64 } auto output
-- random input { 100i64 [200]i32 [200]i64 37i64 } auto output
-- random input { 40i64 [70]i32 [70]i64 8i64 } auto output
-- random input { 40i64 [35]i32 [70]i64 8i64 } error: out of bounds
entry integers [n] [m] (points: i64) (xs: [n]i32) (ys: [m]i64) (steps: i64) : [points](i32, i64) =
  let of i =
    let k = at i 31
    in loop (x, y) = (0, 0) for t < steps do (x * 3 + xs[k + t], y * 5 ^ ys[t + k])
  in tabulate points of

-- Not from one element to the next, of something that the loop computes, and what lies side by side for the points.
-- ==
-- entry: others
-- random input { 100i64 [300]f32 16i64 } auto output
-- random input { 100i64 [300]f32 37i64 } auto output
entry others [n] (points: i64) (xs: [n]f32) (steps: i64) : [points](f32, f32, f32, f32) =
  let of i =
    let k = at i 63
    in loop (a, b, c, d) = (0, 0, 0, 0) for t < steps do
         (0.5 * a + xs[k + 2 * t], 0.5 * b + xs[(k - t) & 127], 0.5 * c + xs[i + t], 0.5 * d + xs[(k + t + i64.bool (b > 0.5)) & 255])
  in tabulate points of

-- Elements that other elements find, in loops of loops.
-- ==
-- entry: around
-- random input { 100i64 [300]f64 [100]i64 16i64 } auto output
-- random input { 33i64 [300]f64 [33]i64 21i64 } auto output
entry around [n] [m] (points: i64) (xs: [n]f64) (ks: [m]i64) (steps: i64) : [points]f64 =
  let of i =
    let k = ks[i] & 31
    in loop x = 0 for s < 3 do
         x * 0.75 + loop y = 0 for t < steps do 0.5 * y + xs[k + s * steps + t]
  in tabulate points of

-- What is checked before fails in a step between.
-- ==
-- entry: between
-- random input { 50i64 [100]f32 16i64 } error: Assertion is false
-- random input { 50i64 [100]f32 4i64 } auto output
entry between [n] (points: i64) (xs: [n]f32) (steps: i64) : [points]f32 =
  let of i =
    let k = at i 31
    in loop x = 0 for t < steps do
         let s = assert (t != 5) t
         in 0.5 * x + xs[k + s]
  in tabulate points of
