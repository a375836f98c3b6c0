-- A flight through a square tunnel: in each pixel, where its ray meets the wall, and a sum of a few waves along and around the wall that fade with the distance.
-- ==
-- input { 0.5f32 3i64 4i64 5i32 } auto output
-- compiled input { 1.5f32 1000i64 1500i64 8i32 }
def main (time: f32) (h: i64) (w: i64) (waves: i32) : [h][w]f32 =
  let place i n = 2 * f32.i64 i / f32.i64 n - 1
  let eighth a = let b = a * a let c = b * b in c * c : f32
  let root a = f32.sqrt (f32.sqrt (f32.sqrt a))
  in tabulate_2d h w (\i j ->
       let (x, y) = (place j w, place i h)
       let far = 0.3 / (root (eighth x + eighth y) + 0.001)
       let around = f32.atan2 y x / f32.pi
       let along = far + time
       let light = loop sum = 0 for k < waves do
                     let pitch = f32.i32 (k + 1)
                     in sum + f32.cos (pitch * (3 * along + 0.7 * f32.sin (pitch * 5 * around))) / pitch
       in (0.5 + 0.25 * light) * f32.exp (-0.1 * far))
