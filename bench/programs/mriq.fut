-- The matrix Q of a reconstruction from magnetic resonance: for each place a sum of waves over all samples.
-- ==
-- input { [0.5f32] [0f32] [0f32] [2f32] [0.5f32] [1f32] [1f32] } auto output
-- compiled random input { [2048]f32 [2048]f32 [2048]f32 [2048]f32 [32768]f32 [32768]f32 [32768]f32 }
def main [k] [n] (kx: [k]f32) (ky: [k]f32) (kz: [k]f32) (weight: [k]f32)
                 (xs: [n]f32) (ys: [n]f32) (zs: [n]f32) : ([n]f32, [n]f32) =
  let wave x y z (kx, ky, kz, w) =
    let angle = 2 * f32.pi * (kx * x + ky * y + kz * z)
    in (w * f32.cos angle, w * f32.sin angle)
  let add (a, b) (c, d) = (a + c, b + d) : (f32, f32)
  in unzip (map3 (\x y z -> reduce add (0, 0) (map (wave x y z) (zip4 kx ky kz weight))) xs ys zs)
