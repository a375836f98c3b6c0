-- The Mandelbrot set as a picture: how often z := z*z + c can be repeated, for every pixel, before z leaves the
-- circle of radius 2. Colours are packed as 0xRRGGBB.
-- ==
-- entry: escape
-- input { 4i64 3i64 50 }
-- output { [[1, 3, 6, 2], [1, 50, 50, 3], [1, 3, 6, 2]] }
-- input { 16i64 9i64 100 } auto output
-- input { 0i64 3i64 100 } output { empty([3][0]i32) }
-- compiled input { 1600i64 1200i64 1000 }

-- ==
-- input { 16i64 9i64 100 } auto output

let escapes (limit: i32) (cr: f32) (ci: f32) : i32 =
  let (_, _, n) =
    loop (zr, zi, n) = (0f32, 0f32, 0i32)
    while n < limit && zr * zr + zi * zi <= 4f32 do
      (zr * zr - zi * zi + cr, 2f32 * zr * zi + ci, n + 1)
  in n

-- The region of the plane that is drawn is centred on -0.75 and two units high.
entry escape (width: i64) (height: i64) (limit: i32) : [height][width]i32 =
  let step = 2f32 / f32.i64 (i64.max 1 (height - 1))
  let left = -0.75f32 - step * f32.i64 (width - 1) / 2f32
  in tabulate_2d height width (\y x ->
       escapes limit (left + step * f32.i64 x) (step * f32.i64 y - 1f32))

-- A smooth palette: dark blue through white and orange to black inside.
let colour (limit: i32) (n: i32) : u32 =
  if n >= limit then 0
  else
    let t = f32.sqrt (f32.i32 n / f32.i32 limit)
    let channel (scale: f32) (shift: f32) : u32 =
      u32.f32 (255f32 * f32.min 1f32 (f32.max 0f32 (scale * t * (1f32 - t) + shift * t)))
    in channel 9f32 0.1f32 << 16 | channel 6f32 0.3f32 << 8 | channel 3f32 1.5f32

entry main (width: i64) (height: i64) (limit: i32) : [height][width]u32 =
  map (map (colour limit)) (escape width height limit)
