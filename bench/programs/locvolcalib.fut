-- Options by a local volatility that is random itself, for many strikes at once, each with parameters of its own: a partial differential equation in
-- two dimensions, backwards in time by alternating directions (Douglas), with a tridiagonal system for each row and each column in each step.

-- Solutions of a tridiagonal system (Thomas): what is below the diagonal, on it and above it, and the right side.
def tridag [n] (a: [n]f32) (b: [n]f32) (c: [n]f32) (d: [n]f32) : *[n]f32 =
  let (c', d') =
    loop (c', d') = (replicate n 0, replicate n 0) for i < n do
      let (last_c, last_d) = if i == 0 then (0, 0) else (c'[i - 1], d'[i - 1])
      let beta = 1 / (b[i] - a[i] * last_c)
      in (c' with [i] = c[i] * beta, d' with [i] = (d[i] - a[i] * last_d) * beta)
  in loop x = d' for k < n - 1 do
       let i = n - 2 - k
       in x with [i] = x[i] - c'[i] * x[i + 1]

-- The value of one option. The first axis is the logarithm of the volatility, the second the price.
def value (rows: i64) (columns: i64) (steps: i64) (strike: f32) (alpha: f32) (beta: f32) (nu: f32) : f32 =
  let (spot, years) = (1, 1) : (f32, f32)
  let dt = years / f32.i64 steps
  let wide = 8 * alpha * spot
  let high = 5 * nu
  let (dx, dy) = (wide / f32.i64 columns, 2 * high / f32.i64 rows)
  let (middle, level) = (columns / 2, rows / 2)
  let xs = map (\j -> f32.max 0.01 (spot + dx * f32.i64 (j - middle))) (iota columns)
  let ys = map (\i -> f32.log alpha + dy * f32.i64 (i - level)) (iota rows)
  -- Half of the variances over the squares of the distances, at the start; they fall with time.
  let variance = map (\y -> map (\x -> 0.5 * f32.exp (2 * (beta * f32.log x + y)) / (dx * dx)) xs) ys
  let across = 0.5 * nu * nu / (dy * dy)
  let payoff = replicate rows (map (\x -> f32.max 0 (x - strike)) xs)
  let step (u: [rows][columns]f32) (k: i64) =
    let fall = f32.exp (-nu * nu * dt * f32.i64 (steps - k))
    let is_inside i n = i > 0 && i < n - 1
    let along i j : f32 = if is_inside j columns then 0.5 * dt * fall * variance[i, j] else 0
    let upward i : f32 = if is_inside i rows then 0.5 * dt * across else 0
    let by_rows = tabulate_2d rows columns (\i j ->
      if is_inside j columns then along i j * (u[i, j - 1] - 2 * u[i, j] + u[i, j + 1]) else 0)
    let by_columns = tabulate_2d rows columns (\i j ->
      if is_inside i rows then upward i * (u[i - 1, j] - 2 * u[i, j] + u[i + 1, j]) else 0)
    let first =
      tabulate rows (\i ->
        let a = map (\j -> -(along i j)) (iota columns)
        in tridag a (map (\a -> 1 - 2 * a) a) a (map3 (\u r c -> u + r + 2 * c) u[i] by_rows[i] by_columns[i]))
    let second =
      tabulate columns (\j ->
        let a = map (\i -> -(upward i)) (iota rows)
        in tridag a (map (\a -> 1 - 2 * a) a) a (map2 (-) (map (\row -> row[j]) first) (map (\row -> row[j]) by_columns)))
    in transpose second
  let end = loop u = payoff for k < steps do step u k
  in end[level, middle]

-- ==
-- entry: options
-- input { 2i64 } auto output
entry options (n: i64) : (i64, i64, i64, [n]f32, [n]f32, [n]f32, [n]f32) =
  let part i = f32.i64 i / f32.i64 n
  in (32, 256, 64, map (\i -> 0.5 + part i) (iota n), map (\i -> 0.2 + 0.1 * part i) (iota n),
      map (\i -> 0.5 + 0.3 * part i) (iota n), map (\i -> 0.3 + 0.2 * part (n - i)) (iota n))

-- ==
-- entry: main
-- input { 4i64 8i64 3i64 [0.9f32, 1.1f32] [0.2f32, 0.3f32] [0.5f32, 0.6f32] [0.3f32, 0.4f32] } auto output
-- compiled script input { options 32i64 }
entry main [n] (rows: i64) (columns: i64) (steps: i64) (strikes: [n]f32) (alphas: [n]f32) (betas: [n]f32) (nus: [n]f32) : [n]f32 =
  map4 (value rows columns steps) strikes alphas betas nus
