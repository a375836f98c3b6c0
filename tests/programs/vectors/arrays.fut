-- Points that make arrays of their own: elements of the lanes of a group lie side by side.

-- A recurrence forth and back; what is read where all lanes read, and at an index that differs.
-- ==
-- entry: forth_and_back
-- random input { [70][9]f32 [70]i64 } auto output
-- random input { [16][1]f32 [16]i64 } auto output
-- random input { [40][0]f32 [40]i64 } auto output
entry forth_and_back [n] [m] (xss: [n][m]f32) (at: [n]i64) : ([n][m]f32, [n]f32) =
  let of xs k =
    let sums = loop s = replicate m 0 for i < m do s with [i] = xs[i] + 0.5 * (if i == 0 then 1 else s[i - 1])
    let back = loop t = copy sums for j < m - 1 do let i = m - 2 - j in t with [i] = t[i] - 0.25 * t[i + 1] * sums[i]
    in (back, if m == 0 then 0 else sums[k % m])
  in unzip (map2 of xss at)

-- Arrays that loops hand on, one for the other, and elements of many types.
-- ==
-- entry: exchanged
-- random input { 5i64 [50]f64 } auto output
-- random input { 0i64 [33]f64 } auto output
entry exchanged [n] (steps: i64) (xs: [n]f64) : [n](f64, f64, i32, bool, u8) =
  let of x =
    let start = (map (\i -> x * f64.i64 i) (iota 6), replicate 6 x, map i32.i64 (iota 6), replicate 6 false, map u8.i64 (iota 6))
    let (a, b, c, d, e) =
      loop (a, b, c, d, e) = start for s < steps do
        let k = s % 6
        let next = (k + 1) % 6
        let (x, y) = (a[next] - b[k], a[k] > b[next])
        in (b, a with [k] = x, c with [next] = c[k] * 3, d with [k] = y, e with [next] = e[k] + 7)
    in (a[0] + a[5], b[2], c[2] ^ c[3], d[1] != d[4], e[0] + e[3])
  in map of xs

-- Copies in each step.
-- ==
-- entry: copied
-- random input { 5i64 [50]f64 } auto output
entry copied [n] (steps: i64) (xs: [n]f64) : [n]f64 =
  let of x =
    let a = loop a = map (\i -> x * f64.i64 i) (iota 6) for s < steps do
              let b = copy a with [s % 6] = a[(s + 1) % 6] - a[s % 6]
              in map2 (\p q -> p - 0.5 * q) a (reverse b)
    in a[0] + a[5]
  in map of xs

-- As many steps as all points go, as long as a condition holds that is the same for all.
-- ==
-- entry: halves
-- random input { 16i64 [45]f32 } auto output
-- random input { 1i64 [20]f32 } auto output
entry halves [n] (m: i64) (xs: [n]f32) : [n]f32 =
  let of x =
    let path = replicate m 0 with [m - 1] = x
    let (path, _, _) =
      loop (path, width, used) = (path, m, 1) while width > 1 do
        let half = width / 2
        let path = loop path for k < m / width do
                     let left = if k == 0 then x else path[k * width - 1]
                     in path with [k * width + half - 1] = 0.5 * (left + path[(k + 1) * width - 1]) + f32.i64 (used + k)
        in (path, half, used + m / width)
    in f32.sum path
  in map of xs

-- Which array it is depends on what is the same for all, or on the point; both sides make one.
-- ==
-- entry: either
-- random input { true [40]i32 } auto output
-- random input { false [40]i32 } auto output
entry either [n] (first: bool) (xs: [n]i32) : [n](i32, i32) =
  let of x =
    let a = if first then map (\i -> x * i32.i64 i) (iota 5) else map (\i -> x - i32.i64 i) (iota 5)
    let b = if x % 2 == 0 then map (+ 1) a else map (* 3) a
    let marks = if first then map (* 2) (iota 5) else map (+ 1) (iota 5)
    let sums = loop s = replicate 5 0 for i < 5i64 do s with [i] = (if i == 0 then 0 else s[i - 1]) + i32.i64 marks[i] + b[i]
    in (a[i64.i32 (x & 3)], sums[4])
  in map of xs

-- Counts of each row, at places that differ.
-- ==
-- entry: counts
-- random input { [37][20]u8 } auto output
-- random input { [64][3]u8 } auto output
entry counts [n] [m] (xss: [n][m]u8) : [n][8]i32 =
  let of xs = loop c = replicate 8 0 for i < m do let k = i64.u8 (xs[i] % 8) in c with [k] = c[k] + 1
  in map of xss

-- Sums of what points make of arrays.
-- ==
-- entry: summed
-- random input { 12i64 [100]f64 } auto output
-- random input { 3i64 [5]f64 } auto output
entry summed [n] (m: i64) (xs: [n]f64) : (i64, f64) =
  let of x =
    let a = loop a = replicate m x for i < m do a with [i] = if i == 0 then x else 0.5 * a[i - 1] + f64.i64 i
    in (i64.sum (map i64.f64 a), f64.maximum a)
  in reduce_comm (\(a, b) (c, d) -> (a + c, f64.max b d)) (0, -f64.inf) (map of xs)

-- Too large for all lanes together, in the first case.
-- ==
-- entry: large
-- input { 140000i64 [1f64, 2f64, 3f64, 4f64, 5f64, 6f64, 7f64, 8f64, 9f64, 10f64, 11f64, 12f64, 13f64, 14f64, 15f64, 16f64, 17f64] } auto output
-- input { 20i64 [1f64, 2f64, 3f64, 4f64, 5f64, 6f64, 7f64, 8f64, 9f64, 10f64, 11f64, 12f64, 13f64, 14f64, 15f64, 16f64, 17f64] } auto output
entry large [n] (m: i64) (xs: [n]f64) : [n]f64 =
  let of x =
    let a = loop a = replicate m x for i < 9i64 do a with [m - 1 - i] = x + 0.5 * a[m - i - 2] - a[i]
    in loop s = 0 for i < 9i64 do s - a[i] * a[m - 1 - i]
  in map of xs

-- What is outside of an array is told of, for the point that it is.
-- ==
-- entry: outside
-- input { [1i64, 2i64, 3i64, 1i64, 0i64, 2i64, 3i64, 1i64, 1i64, 2i64, 3i64, 1i64, 0i64, 2i64, 3i64, 1i64, 4i64, 2i64] } error: Index \[4\] out of bounds
-- input { [1i64, 2i64, 3i64, 1i64, 0i64, 2i64, 3i64, 1i64, 1i64, 2i64, 3i64, 1i64, 0i64, 2i64, 3i64, 1i64, 3i64, 2i64] } auto output
entry outside [n] (ks: [n]i64) : [n]f32 =
  map (\k -> let a = loop a = replicate 4 1f32 for i < 3i64 do a with [i + 1] = a[i] * f32.i64 k in a[k]) ks
