-- A sum of numbers in memory: as fast as memory is read. They are whole, so that no sum is rounded.
-- ==
-- input { [1, 2, 3] } output { 6 }
-- compiled random input { [100000000]i32 }
def main [n] (xs: [n]i32) : i32 = i32.sum xs
