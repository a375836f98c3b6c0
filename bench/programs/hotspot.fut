-- The heat of a chip: each place warms by its power and exchanges heat with its four neighbours and with the air.
-- ==
-- input { 2i32 [[0f32, 1f32], [1f32, 0f32]] [[0f32, 0f32], [0f32, 1f32]] } auto output
-- compiled random input { 360i32 [1024][1024]f32 [1024][1024]f32 }
def main [n] [m] (steps: i32) (heat: [n][m]f32) (power: [n][m]f32) : [n][m]f32 =
  let step (t: [n][m]f32) =
    tabulate_2d n m (\i j ->
      let here = t[i, j]
      let north = t[i64.max (i - 1) 0, j]
      let south = t[i64.min (i + 1) (n - 1), j]
      let west = t[i, i64.max (j - 1) 0]
      let east = t[i, i64.min (j + 1) (m - 1)]
      in here + 0.1 * power[i, j]
         + 0.12 * (north + south - 2 * here)
         + 0.15 * (west + east - 2 * here)
         + 0.01 * (0.5 - here))
  in loop t = heat for _i < steps do step t
