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

-- Several elements in each step, side by side: all of them, in any order, but for the last, and more than are turned.
-- ==
-- entry: several
-- random input { 100i64 [400]f32 [300]f64 16i64 } auto output
-- random input { 100i64 [400]f32 [300]f64 4i64 } auto output
-- random input { 100i64 [400]f32 [300]f64 37i64 } auto output
-- random input { 64i64 [160]f32 [300]f64 32i64 } auto output
-- random input { 64i64 [158]f32 [300]f64 32i64 } error: out of bounds
entry several [n] [m] (points: i64) (xs: [n]f32) (ys: [m]f64) (steps: i64) : [points](f32, f64, f32, f32) =
  let of i =
    let k = at i 63
    in loop (a, b, c, d) = (0, 0, 0, 0) for t < steps do
         (0.5 * a + xs[k + 3 * t] * xs[k + 3 * t + 1] - xs[k + 3 * t + 2], 0.5 * b + ys[k + 2 * t + 1] - ys[k + 2 * t],
          0.25 * c + xs[k + 3 * t] * xs[k + 3 * t + 1], 0.5 * d + xs[k + 5 * t % 97])
  in tabulate points of

-- ==
-- entry: threes
-- random input { 100i64 [400]f32 16i64 } auto output
-- random input { 100i64 [400]f32 4i64 } auto output
-- random input { 100i64 [160]f32 32i64 } auto output
-- random input { 100i64 [158]f32 32i64 } error: out of bounds
entry threes [n] (points: i64) (xs: [n]f32) (steps: i64) : [points]f32 =
  tabulate points (\i -> let k = at i 63 in loop a = 0 for t < steps do 0.5 * a + xs[k + 3 * t] * xs[k + 3 * t + 1] - xs[k + 3 * t + 2])

-- ==
-- entry: not_the_last
-- random input { 100i64 [159]f32 32i64 } auto output
-- random input { 100i64 [158]f32 32i64 } auto output
-- random input { 100i64 [157]f32 32i64 } error: out of bounds
entry not_the_last [n] (points: i64) (xs: [n]f32) (steps: i64) : [points]f32 =
  tabulate points (\i -> let k = at i 63 in loop a = 0 for t < steps do 0.5 * a + xs[k + 3 * t] * xs[k + 3 * t + 1])

-- Rows of three numbers for each of four neighbours, whose number is known.
-- ==
-- entry: faces
-- random input { [1000][4]i32 [1000][4][3]f32 } auto output
-- random input { [17][4]i32 [17][4][3]f32 } auto output
entry faces [n] (neighbours: [n][4]i32) (faces: [n][4][3]f32) : [n]f32 =
  map2 (\ks fs -> loop sum = 0 for j < 4i64 do
                    sum * 0.5 + fs[j, 0] * fs[j, 1] - fs[j, 2] + faces[i64.i32 ks[j] & 15, j, 1]) neighbours faces
