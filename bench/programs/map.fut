-- A map over numbers in memory: as fast as memory is read and written.
-- ==
-- input { [1f32, 2f32] } output { [3f32, 5f32] }
-- compiled random input { [100000000]f32 }
def main [n] (xs: [n]f32) : [n]f32 = map (\x -> 2 * x + 1) xs
