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

-- Lanes that have left the loop compute on, and would come back: what they count stays as it was.
-- ==
-- entry: back
-- random input { [1000]f64 } auto output
-- input { [0f64, 0.5f64, -0.75f64, 0.99f64, f64.nan, f64.inf, -f64.inf, 3f64, 1f64] } auto output
entry back [n] (xs: [n]f64) : [n]i64 =
  map (\x -> (loop (y, k) = (x, 5i64) while y < 1 && k < 99 do ((if y > 0.75 then 1.25 else if y > 1 then 0 else y + 0.0625), k + 3)).1) xs

-- What is not used are numbers of another width, a truth value, and the condition itself.
-- ==
-- entry: widths
-- random input { [777]f32 } auto output
-- random input { [3]f32 } auto output
entry widths [n] (xs: [n]f32) : ([n]u8, [n]f32) =
  unzip (map (\x -> let (_, _, _, k, last) =
                      loop (going, y, odd, k, last) = (x < 0.9, x, false, 250u8, 1f32) while going do
                        (y * y + x < 2 && k != 9, y * y + x, !odd, k + (if odd then 0 else 1), if odd then y else last)
                    in (k, last)) xs)

-- Two loops, one after the other; of one nothing is used but a float.
-- ==
-- entry: roots
-- random input { [500]f32 } auto output
entry roots [n] (xs: [n]f32) : ([n]i32, [n]f32) =
  unzip (map (\x -> let a = f32.abs x + 0.5
                    let (_, k) = loop (r, k) = (a, 0i32) while f32.abs (r * r - a) > 1e-3 && k < 40 do ((r + a / r) * 0.5, k + 1)
                    let (r, _) = loop (r, k) = (a, 0i32) while k < 3 || (k < 30 && f32.abs (r * r - a) > 1e-4) do ((r + a / r) * 0.5, k + 1)
                    in (k, r)) xs)
