-- A quasicrystal: in each pixel, waves of many directions are added and folded into [0, 1].
-- ==
-- input { 3i64 20f32 5i32 } auto output
-- compiled input { 1000i64 100f32 50i32 }
def main (n: i64) (scale: f32) (waves: i32) : [n][n]f32 =
  let place i = scale * (f32.i64 i / f32.i64 n - 0.5)
  let fold (v: f32) =
    let whole = f32.floor v
    let rest = v - whole
    in if i32.f32 whole % 2 == 0 then rest else 1 - rest
  in tabulate_2d n n (\i j ->
       let (x, y) = (place j, place i)
       in fold (loop sum = 0 for w < waves do
                  let angle = f32.pi * f32.i32 w / f32.i32 waves
                  in sum + (f32.cos (f32.cos angle * x + f32.sin angle * y) + 1) / 2))
