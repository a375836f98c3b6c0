-- An image without its speckle, by diffusion that stops at edges (Yu and Acton): each step takes the mean and the variance of the whole
-- image, from them and the differences to four neighbours how much each place diffuses, and then moves every place by that.
-- ==
-- input { 2i32 [[10u8, 200u8, 30u8], [40u8, 50u8, 60u8]] } auto output
-- compiled random input { 100i32 [502][458]u8 }
def main [n] [m] (steps: i32) (image: [n][m]u8) : [n][m]f32 =
  let step (j: [n][m]f32) : [n][m]f32 =
    let add (a, b) (c, d) = (a + c, b + d) : (f32, f32)
    let (sum, squares) = reduce add (0, 0) (map (\x -> (x, x * x)) (flatten j))
    let mean = sum / f32.i64 (n * m)
    let speckle = (squares / f32.i64 (n * m) - mean * mean) / (mean * mean)
    let differences y x =
      let here = j[y, x]
      in (j[i64.max (y - 1) 0, x] - here,
          j[i64.min (y + 1) (n - 1), x] - here,
          j[y, i64.max (x - 1) 0] - here,
          j[y, i64.min (x + 1) (m - 1)] - here)
    let coefficient y x : f32 =
      let here = j[y, x]
      let (north, south, west, east) = differences y x
      let gradient = (north * north + south * south + west * west + east * east) / (here * here)
      let laplacian = (north + south + west + east) / here
      let scale = 1 + 0.25 * laplacian
      let q = (0.5 * gradient - 0.0625 * laplacian * laplacian) / (scale * scale)
      in f32.max 0 (f32.min 1 (1 / (1 + (q - speckle) / (speckle * (1 + speckle)))))
    let cs = tabulate_2d n m coefficient
    in tabulate_2d n m (\y x ->
         let (north, south, west, east) = differences y x
         let c = cs[y, x]
         let down = cs[i64.min (y + 1) (n - 1), x]
         let right = cs[y, i64.min (x + 1) (m - 1)]
         in j[y, x] + 0.125 * (c * north + down * south + c * west + right * east))
  let start = map (map (\p -> f32.exp (f32.u8 p / 255))) image
  let end = loop j = start for _i < steps do step j
  in map (map (\x -> 255 * f32.log x)) end
