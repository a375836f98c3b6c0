-- HotSpot (thesis 10.1): a stencil over a grid of temperatures, one parallel operation for each time step and no copy
-- between steps, for the arrays of the last step and the next change places.

def step [rows] [cols] (temp: [rows][cols]f32) (power: [rows][cols]f32) : [rows][cols]f32 =
  tabulate_2d rows cols (\r c ->
    let here = temp[r, c]
    let at i j =
      if i >= 0 && i < rows && j >= 0 && j < cols then temp[i, j] else here
    let vertical = at (r - 1) c + at (r + 1) c - 2 * here
    let horizontal = at r (c - 1) + at r (c + 1) - 2 * here
    in here + 0.125 * (power[r, c] + vertical + horizontal + (80 - here) * 0.5))

-- ==
-- input { 0i32 [[80f32, 80f32], [80f32, 80f32]] [[0f32, 0f32], [0f32, 0f32]] }
-- output { [[80f32, 80f32], [80f32, 80f32]] }
-- count *=inf:
-- count *=0: map 1
-- input { 1i32 [[80f32, 80f32], [80f32, 80f32]] [[8f32, 0f32], [0f32, 0f32]] }
-- output { [[81f32, 80f32], [80f32, 80f32]] }
-- count *=inf: map 1
-- input { 3i32 [[80f32, 80f32], [80f32, 80f32]] [[8f32, 0f32], [0f32, 0f32]] } auto output
-- count *=inf: map 3
-- count *=0: map 1
def main [rows] [cols] (steps: i32) (temp: [rows][cols]f32) (power: [rows][cols]f32)
    : [rows][cols]f32 =
  loop temp for _i < steps do step temp power
