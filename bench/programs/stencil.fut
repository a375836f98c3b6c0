-- A 3-D stencil of seven points, as for the heat in a block: places within become a sum of themselves and of their six neighbours, those on the
-- surface stay as they are.
-- ==
-- input { 2i32 [[[1f32, 2f32, 3f32], [4f32, 5f32, 6f32], [7f32, 8f32, 9f32]], [[9f32, 8f32, 7f32], [6f32, 5f32, 4f32], [3f32, 2f32, 1f32]], [[1f32, 2f32, 3f32], [6f32, 5f32, 4f32], [7f32, 8f32, 9f32]]] } auto output
-- compiled random input { 20i32 [64][512][512]f32 }
def main [l] [n] [m] (steps: i32) (block: [l][n][m]f32) : [l][n][m]f32 =
  let sixth = 1 / 6 : f32
  let step (a: [l][n][m]f32) =
    tabulate_3d l n m (\z y x ->
      let here = a[z, y, x]
      in if z == 0 || z == l - 1 || y == 0 || y == n - 1 || x == 0 || x == m - 1 then here
         else (a[z - 1, y, x] + a[z + 1, y, x] + a[z, y - 1, x] + a[z, y + 1, x] + a[z, y, x - 1] + a[z, y, x + 1]) * sixth
              - here * sixth)
  in loop a = block for _i < steps do step a
