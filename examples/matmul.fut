-- The product of two matrices, written as it is defined.
-- ==
-- entry: main
-- input { [[1f32, 2f32], [3f32, 4f32]] [[5f32, 6f32], [7f32, 8f32]] }
-- output { [[19f32, 22f32], [43f32, 50f32]] }
-- input { [[1f32, 2f32, 3f32]] [[1f32], [2f32], [3f32]] } output { [[14f32]] }
-- input { empty([2][0]f32) empty([0][3]f32) } output { [[0f32, 0f32, 0f32], [0f32, 0f32, 0f32]] }
-- input { [[1f32, 2f32]] [[1f32, 2f32]] } error: size
-- random input { [17][33]f32 [33][9]f32 } auto output
-- compiled random input { [1280][1280]f32 [1280][1280]f32 }

entry main [n][m][p] (a: [n][m]f32) (b: [m][p]f32) : [n][p]f32 =
  map (\row -> map (\column -> reduce (+) 0 (map2 (*) row column)) (transpose b)) a
