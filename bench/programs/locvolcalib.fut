-- Options by a local volatility that is random itself, for many strikes at once, each with parameters of its own: a partial differential equation in
-- two dimensions, backwards in time by alternating directions (Douglas), with a tridiagonal system for each row and each column in each step.

-- What eliminating below the diagonal makes of a tridiagonal matrix (Thomas) that has `a` on both sides of the diagonal and `1 - 2 * a` on it: what is
-- above the diagonal then, and the factor of each row.
def eliminated [n] (a: [n]f32) : (*[n]f32, *[n]f32) =
  loop (above, factors) = (replicate n 0, replicate n 0) for i < n do
    let last = if i == 0 then 0 else above[i - 1]
    let factor = 1 / (1 - 2 * a[i] - a[i] * last)
    in (above with [i] = a[i] * factor, factors with [i] = factor)

-- The solution of a system with that matrix.
def solved [n] (a: [n]f32) (above: [n]f32) (factors: [n]f32) (d: [n]f32) : *[n]f32 =
  let x = loop x = replicate n 0 for i < n do
            let last = if i == 0 then 0 else x[i - 1]
            in x with [i] = (d[i] - a[i] * last) * factors[i]
  in loop x = x for k < n - 1 do
       let i = n - 2 - k
       in x with [i] = x[i] - above[i] * x[i + 1]

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
  let is_inside i n = i > 0 && i < n - 1
  -- Half of the variances over the squares of the distances, at the start, times half of a step; they fall with time. Nothing moves at the edges.
  let variance = map (\y -> map2 (\j x -> if is_inside j columns then 0.5 * dt * (0.5 * f32.exp (2 * (beta * f32.log x + y)) / (dx * dx)) else 0)
                                 (iota columns) xs) ys
  let upward = map (\i -> if is_inside i rows then 0.5 * dt * (0.5 * nu * nu / (dy * dy)) else 0) (iota rows)
  -- The systems of the columns have one matrix in all steps.
  let below = map (\a -> -a) upward
  let (above, factors) = eliminated below
  let payoff = replicate rows (map (\x -> f32.max 0 (x - strike)) xs)
  let step (u: [rows][columns]f32) (k: i64) =
    let fall = f32.exp (-nu * nu * dt * f32.i64 (steps - k))
    let second before here behind : f32 = before - 2 * here + behind
    let near i n = i64.max 0 (i64.min (n - 1) i)
    let by_columns = tabulate_2d rows columns (\i j -> upward[i] * second u[near (i - 1) rows, j] u[i, j] u[near (i + 1) rows, j])
    let by_rows = tabulate_2d rows columns (\i j ->
      if is_inside j columns then fall * variance[i, j] * second u[i, j - 1] u[i, j] u[i, j + 1] else 0)
    let first =
      tabulate rows (\i ->
        let a = map (\v -> -(fall * v)) variance[i]
        let (above, factors) = eliminated a
        in solved a above factors (map3 (\u r c -> u + r + 2 * c) u[i] by_rows[i] by_columns[i]))
    let other = tabulate columns (\j -> solved below above factors (tabulate rows (\i -> first[i, j] - by_columns[i, j])))
    in transpose other
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
