-- Loops whose steps read what the step before has written, which they carry instead: upwards and downwards, from the first step on or but for
-- that; and loops in which something else is written there in between.

let number (i: i64) (j: i64) : f32 = f32.i64 ((i * 31 + j * 17) % 23) - 11

-- ==
-- entry: solved
-- input { 100i64 9i64 } auto output
-- input { 17i64 1i64 } auto output
-- input { 33i64 2i64 } auto output
-- input { 3i64 40i64 } auto output
-- input { 5i64 0i64 } auto output
entry solved (m: i64) (n: i64) : [m][n]f32 =
  tabulate m (\i ->
    let x = loop x = replicate n 0 for j < n do
              let last = if j == 0 then 2 else x[j - 1]
              in x with [j] = 0.25 * (number i j - last)
    in loop x = x for k < n - 1 do
         let j = n - 2 - k
         in x with [j] = x[j] - 0.5 * x[j + 1])

-- ==
-- entry: forms
-- input { 40i64 [3i32, -1i32, 4i32, 1i32, 5i32, -9i32, 2i32, 6i32, 5i32, 3i32, 5i32, 8i32] } auto output
-- input { 1i64 [3i32] } auto output
-- input { 20i64 [3i32, 5i32] } auto output
entry forms [n] (m: i64) (xs: [n]i32) : ([m][n]i32, [m][n]u8, [m][n]bool, [m][n]f64) =
  unzip4 (map (\i ->
    let a = loop x = copy xs for j < n - 1 do x with [j + 1] = 7 * x[j] + i32.i64 (i + j)
    let b = loop x = replicate n 5u8 for j < n do
              let last = if j > 0 then x[j - 1] else u8.i64 i
              in x with [j] = last * 3 + 1
    let c = loop x = replicate n false for j < n do
              let last = if 1 <= j then x[j - 1] else i % 2 == 0
              in x with [j] = last != (j % 3 == 0)
    let d = loop x = tabulate n f64.i64 for k < n - 1 do
              let j = n - 1 - k
              in x with [j - 1] = x[j] * 0.5 + x[j - 1]
    in (a, b, c, d)) (iota m))

-- Two steps back, the same element as two steps ahead, and several recurrences in one loop.
-- ==
-- entry: further
-- input { 40i64 [1i64, 2i64, 1i64, 3i64, 1i64, 4i64, 1i64, 5i64, 9i64] } auto output
-- input { 18i64 [1i64, 2i64, 1i64] } auto output
entry further [n] (m: i64) (xs: [n]i64) : ([m][n]i64, [m][n]i64, [m][n]i64) =
  unzip3 (map (\i ->
    let fib = loop x = replicate n i for j < n do
                if j < 2 then x else x with [j] = x[j - 1] + x[j - 2]
    let (p, q) = loop (p, q) = (copy xs, replicate n i) for j < n - 1 do
                   let (a, b) = (p[j], q[j])
                   in (p with [j + 1] = a + b, q with [j + 1] = 3 * b - a)
    in (fib, p, q)) (iota m))

-- What the step before has written is written over where a condition holds, then or later, or by a loop in the step.
-- ==
-- entry: between
-- input { 40i64 [1i64, 2i64, 1i64, 3i64, 1i64, 4i64, 1i64, 5i64, 9i64] } auto output
-- input { 18i64 [1i64, 2i64, 1i64] } auto output
entry between [n] (m: i64) (xs: [n]i64) : ([m][n]i64, [m][n]i64, [m][n]i64) =
  unzip3 (map (\i ->
    let a = loop x = copy xs for j < n - 1 do
              let y = x with [j + 1] = x[j] * 3 + x[j + 1]
              in if (i + j) % 4 == 0 then y with [j + 1] = i else y
    let b = loop x = map (* i) xs for j < n - 1 do
              let y = x with [j + 1] = x[j] + 1
              in loop y = y for k < 3 do if k + j < n then y with [k + j] = y[k + j] + k else y
    let c = loop x = copy xs for j < n - 1 do
              let y = if (i + j) % 3 == 0 then x with [j] = i else x
              in y with [j + 1] = y[j] * 2 + 1
    in (a, b, c)) (iota m))

-- One loop for a whole program, and rows that others may have names of.
-- ==
-- entry: alone
-- input { [3i32, 1i32, 4i32, 1i32, 5i32] } auto output
-- input { empty([0]i32) } auto output
-- input { [7i32] } auto output
entry alone [n] (xs: [n]i32) : ([n]i32, i32) =
  let ys = loop ys = copy xs for i < n - 1 do ys with [i + 1] = ys[i] * 10 + xs[i + 1]
  in (ys, if n == 0 then 0 else ys[n - 1])

-- ==
-- entry: fails
-- input { 3i64 4i64 } error: out of bounds
-- input { 3i64 0i64 } error: out of bounds
entry fails (m: i64) (n: i64) : [m][n]i64 =
  tabulate m (\i -> loop x = tabulate n (+ i) for j < n + 1 do x with [j] = x[j - 1] + 1)
