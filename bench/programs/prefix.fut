-- All partial sums of numbers in memory.
-- ==
-- input { [1, 2, 3] } output { [1, 3, 6] }
-- compiled random input { [100000000]i32 }
def main [n] (xs: [n]i32) : [n]i32 = scan (+) 0 xs
