-- Loops that lanes leave at different steps, of which not everything that they carry is read at the end: what is computed in lanes
-- that have stopped must not start them again.
-- ==
-- entry: steps
-- input { [0f32, 1f32, 2f32, 3f32, 4f32, 5f32, 6f32, 7f32, 8f32, 9f32, 0.5f32, 100f32, -1f32, -0.25f32, 3.5f32, f32.nan, f32.inf] 30i32 }
-- auto output
-- random input { [1000]f32 20i32 } auto output
-- random input { [5]f32 20i32 } auto output
entry steps [n] (xs: [n]f32) (limit: i32) : [n]i32 =
  -- Beyond 3 numbers fall back to the start.
  map (\x -> (loop (y, k) = (x, 0i32) while k < limit && y < 3f32 do ((if y > 2.5f32 then 4f32 else if y > 3f32 then 0f32 else y * 1.25f32 + 0.125f32), k + 1)).1) xs

-- ==
-- entry: orbit
-- random input { [1000]f32 } auto output
-- input { [0f32, 2f32, -2f32, 0.25f32, -1.5f32, -1.75f32] } auto output
entry orbit [n] (cs: [n]f32) : ([n]i32, [n]f32) =
  unzip (map (\c -> let (_, last, k) = loop (z, before, k) = (0f32, 0f32, 0i32) while k < 50 && z * z <= 4f32 do (z * z + 3 * c - 2, z, k + 1)
                    in (k, last)) cs)

-- Nothing but the number of steps is read, and numbers are of several widths.
-- ==
-- entry: collatz
-- input { 1000i64 } auto output
entry collatz (n: i64) : [n]i32 =
  map (\i -> (loop (x, k) = (i32.i64 i + 1, 0i32) while x != 1 && k < 1000 do ((if x % 2 == 0 then x / 2 else 3 * x + 1), k + 1)).1) (iota n)
