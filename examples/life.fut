-- Conway's game of life on a torus.
-- ==
-- entry: main
-- input { 1i32 [[0u8,0u8,0u8,0u8,0u8], [0u8,0u8,1u8,0u8,0u8], [0u8,0u8,1u8,0u8,0u8], [0u8,0u8,1u8,0u8,0u8], [0u8,0u8,0u8,0u8,0u8]] }
-- output { [[0u8,0u8,0u8,0u8,0u8], [0u8,0u8,0u8,0u8,0u8], [0u8,1u8,1u8,1u8,0u8], [0u8,0u8,0u8,0u8,0u8], [0u8,0u8,0u8,0u8,0u8]] }
-- input { 3i32 [[1u8]] } output { [[0u8]] }

let step [h][w] (world: [h][w]u8) : [h][w]u8 =
  tabulate_2d h w (\y x ->
    let up = if y == 0 then h - 1 else y - 1
    let down = if y == h - 1 then 0 else y + 1
    let left = if x == 0 then w - 1 else x - 1
    let right = if x == w - 1 then 0 else x + 1
    let around =
      world[up, left] + world[up, x] + world[up, right]
      + world[y, left] + world[y, right]
      + world[down, left] + world[down, x] + world[down, right]
    in u8.bool (around == 3 || (around == 2 && world[y, x] == 1)))

entry main [h][w] (generations: i32) (world: [h][w]u8) : [h][w]u8 =
  loop world = copy world for _i < generations do step world

-- A random soup, advanced; gives the number of the living.
-- ==
-- entry: soup
-- input { 10i64 12i64 5i32 } auto output
-- compiled input { 2048i64 2048i64 100i32 }
entry soup (height: i64) (width: i64) (generations: i32) : i64 =
  let seed =
    tabulate_2d height width (\y x ->
      let a = u32.i64 (y * 7919 + x * 104729 + 1) * 2654435761
      let b = (a ^ (a >> 15)) * 2246822519
      in u8.u32 ((b >> 13) & 1))
  in i64.sum (map i64.u8 (flatten (main generations seed)))
