-- Histogram equalisation: the grey levels of a picture are spread so that all are used about equally often.
-- ==
-- entry: main
-- input { [[52u8, 55u8], [61u8, 52u8]] } output { [[0u8, 128u8], [255u8, 0u8]] }
-- input { [[7u8, 7u8]] } output { [[7u8, 7u8]] }
-- random input { [20][31]u8 } auto output

entry main [h][w] (picture: [h][w]u8) : [h][w]u8 =
  let levels = map i64.u8 (flatten picture)
  let counts = reduce_by_index (replicate 256 0i64) (+) 0 levels (replicate (h * w) 1)
  let below = scan (+) 0 counts
  let lowest = reduce i64.min (h * w) (map2 (\count sum -> if count > 0 then sum else h * w) counts below)
  let span = h * w - lowest
  let table = map (\sum -> if span <= 0 then 0 else u8.i64 (((sum - lowest) * 255 + span / 2) / span)) below
  in if span <= 0 then picture
     else map (map (\level -> table[i64.u8 level])) picture

-- Round after round on a picture that is changed a little each time.
-- ==
-- entry: rounds
-- random input { 3i32 [9][13]u8 } auto output
-- compiled random input { 60i32 [4000][4000]u8 }
entry rounds [h][w] (n: i32) (picture: [h][w]u8) : [h][w]u8 =
  loop picture = copy picture for i < n do main (map (map (^ u8.i32 i)) picture)

-- A picture to try it on: a dim, uneven gradient.
-- ==
-- entry: dim
-- input { 3i64 2i64 } auto output
entry dim (width: i64) (height: i64) : [height][width]u8 =
  tabulate_2d height width (\y x ->
    u8.f32 (60f32 + 40f32 * f32.sin (f32.i64 x / 50f32) * f32.cos (f32.i64 y / 70f32)))
