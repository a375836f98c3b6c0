-- The cheapest ways through a grid from top to bottom, of which each step goes down, straight or to a neighbour.
-- ==
-- input { [[1u8, 2u8, 3u8], [9u8, 9u8, 1u8]] } output { [10, 10, 3] }
-- compiled random input { [500][200000]u8 }
def main [n] [m] (costs: [n][m]u8) : [m]i32 =
  let cost i j = i32.u8 costs[i, j]
  in loop best = tabulate m (cost 0) for i in 1..<n do
       tabulate m (\j ->
         let left = best[i64.max (j - 1) 0]
         let right = best[i64.min (j + 1) (m - 1)]
         in cost i j + i32.min best[j] (i32.min left right))
