-- Loops that carry the index of what is best so far: as lanes of 32 bits on CPUs, where rows are put side by side and their number fits.

-- ==
-- entry: nearest
-- random input { [7][4]f32 [100][4]f32 } auto output
-- random input { [1][3]f32 [40][3]f32 } auto output
-- random input { [0][3]f32 [40][3]f32 } auto output
-- random input { [20][0]f32 [40][0]f32 } auto output
-- random input { [3][700]f32 [50][700]f32 } auto output
entry nearest [k] [n] [d] (centres: [k][d]f32) (points: [n][d]f32) : [n]i64 =
  map (\p -> (loop (at, least) = (0i64, f32.inf) for c < k do
                let x = f32.sum (map2 (\a b -> (a - b) * (a - b)) centres[c] p)
                in if x < least || (x == least && c < at) then (c, x) else (at, least)).0) points

-- Numbers that are compared with it, stored and computed with; nothing is found at first. Sums are of whole numbers, of which nothing is rounded.
-- ==
-- entry: last
-- input { [[1f32, 2f32], [2f32, 1f32], [1f32, 2f32], [0f32, 0f32]]
--         [[1f32, 0f32], [0f32, 1f32], [0f32, 0f32], [1f32, 1f32], [-1f32, 0f32], [f32.nan, 0f32], [2f32, 2f32], [0f32, -1f32], [3f32, 1f32]] }
-- auto output
-- random input { [9][5]f32 [64][5]f32 } auto output
entry last [k] [n] [d] (rows: [k][d]f32) (points: [n][d]f32) : ([n]i64, [n]i64, [n]f32) =
  unzip3 (map (\p -> let (at, before, most) =
                       loop (at, before, most) = (-1i64, -3000000000i64, -f32.inf) for c < k do
                         let x = f32.sum (map2 (\a b -> f32.round (8 * a) * f32.round (8 * b)) rows[c] p)
                         in if x >= most && at < c then (c, at, x) else (at, before, most)
                     in (at * 3 + 1, before, most)) points)

-- The number of rows is known, and an index changes places with another one.
-- ==
-- entry: two
-- random input { [6][8]f64 [70][8]f64 } auto output
entry two [n] (rows: [6][8]f64) (points: [n][8]f64) : ([n]i64, [n]i64) =
  unzip (map (\p -> let (a, b, _, _) =
                      loop (a, b, x, y) = (0i64, 1i64, f64.inf, f64.inf) for c < 6 do
                        let z = f64.sum (map2 (\r q -> f64.abs (r - q)) rows[c] p)
                        in if z < x then (c, a, z, x) else if z < y then (a, c, x, z) else (a, b, x, y)
                    in (a, b)) points)
