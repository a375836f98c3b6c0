-- Those of the numbers in memory that are above a half.
-- ==
-- input { [0.25f32, 0.75f32, 1f32] } output { [0.75f32, 1f32] }
-- compiled random input { [100000000]f32 }
def main (xs: []f32) : []f32 = filter (> 0.5) xs
