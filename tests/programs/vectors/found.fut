-- Elements that lanes find for themselves, in loops and on sides of choices, where those of other lanes may not be there.

-- Neighbours of points, of which some have none.
-- ==
-- entry: neighbours
-- input { [1f32, 2f32, 4f32] [1i32, -1i32, 0i32, 2i32] } auto output
-- input { empty([0]f32) [-1i32, -1i32] } auto output
-- input { [1f32, 2f32] [0i32, 1i32, 0i32, 1i32, 0i32, -1i32, 0i32, 2i32, 0i32, 0i32, 0i32, 0i32, 0i32, 0i32, 0i32, 0i32] } error: Index \[2\] out of bounds for array of shape \[2\]
-- input { empty([0]f32) [-1i32, -1i32, 5i32, -1i32, -1i32, -1i32, 7i32, -1i32, -1i32, -1i32, -1i32, -1i32, -1i32, -1i32, -1i32, -1i32, -1i32] } error: Index \[5\] out of bounds for array of shape \[0\]
-- random input { [33]f32 [0]i32 } auto output
entry neighbours [n][m] (xs: [n]f32) (is: [m]i32) : [m]f32 =
  map (\i -> if i >= 0 then (let x = xs[i64.i32 i]
                            let y = x * x + f32.sqrt x / 4 - x * 0.5
                            in y * y + (y - 1) / (x + 2) - (x - y) * (x + 3 * y) + f32.i32 (i & 1))
             else f32.i32 i - 2) is

-- The same of indices that are in range or not, by tables of all widths, in loops.
-- ==
-- entry: within
-- random input { [40]f64 [40]i64 [40]u32 [999]i32 } auto output
-- random input { [1]f64 [1]i64 [1]u32 [77]i32 } auto output
-- random input { [0]f64 [0]i64 [0]u32 [77]i32 } auto output
entry within [n][m] (a: [n]f64) (b: [n]i64) (c: [n]u32) (is: [m]i32) : ([m]f64, [m]i64, [m]u32) =
  let at i k = (i64.i32 i >> k) & 63
  in unzip3 (map (\i -> loop (x, y, z) = (0.5, 1, 2) for k < 5 do
                          let j = at i k
                          in if j < n then (x * 0.5 + a[j], y ^ (b[j] + k), if z > 7 then z - c[n - 1 - j] else z + 3)
                             else if j < 2 * n && n > 1 then (let p = a[j - n] in p + x * p - x / 3 + p * p * p - x, y + b[j - n] * 3, z)
                             else (x + 1, y - 1, z * 3)) is)

-- Rows of three and of four, at a distance, whose elements are found by others.
-- ==
-- entry: rows
-- random input { [50][4]f32 [50][3]i32 } auto output
-- random input { [16][4]f32 [16][3]i32 } auto output
-- random input { [5][4]f32 [5][3]i32 } auto output
entry rows [n] (xss: [n][4]f32) (iss: [n][3]i32) : [n]f32 =
  map2 (\xs is -> loop sum = 0 for k < 3 do
                    let i = i64.i32 is[k] % n
                    let y = xss[i, k] - xs[k]
                    in if y > 0 then sum + y * f32.sqrt y + xss[i, 3] * xs[3] - y / 3 + y * y * y * y
                       else sum - y) xss iss

-- Indices from floats and to floats.
-- ==
-- entry: moved
-- random input { [20][30]f32 [20][30]f32 } auto output
-- random input { [3][16]f32 [3][16]f32 } auto output
entry moved [n][m] (us: [n][m]f32) (xs: [n][m]f32) : [n][m]f32 =
  tabulate_2d n m (\i j -> let y = f32.max 0 (f32.min (f32.i64 (n - 1)) (f32.i64 i - 4 * us[i, j]))
                           let z = f32.max 0 (f32.min (f32.i64 (m - 1)) (f32.i64 j + 3 * us[i, j]))
                           let (i0, j0) = (i64.f32 y, i64.f32 z)
                           let (i1, j1) = (i64.min (i0 + 1) (n - 1), i64.min (j0 + 1) (m - 1))
                           let (s, t) = (y - f32.i64 i0, z - f32.i64 j0)
                           in (1 - s) * ((1 - t) * xs[i0, j0] + t * xs[i0, j1]) + s * ((1 - t) * xs[i1, j0] + t * xs[i1, j1]))
