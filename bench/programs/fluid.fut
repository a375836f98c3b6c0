-- A fluid in a box, in two dimensions (Stam, Stable fluids): smoke and two velocities diffuse by Jacobi iterations, go along with the flow, and the
-- flow is made free of sources by a pressure. Walls are mirrors: beyond them stands what is before them, with the sign that a velocity across the wall has there.

-- What is beyond walls above and below, and at the sides, as a multiple of what is before them.
def solid : (f32, f32) = (1, 1)
def vertical : (f32, f32) = (-1, 1)
def horizontal : (f32, f32) = (1, -1)

-- The solution of x - share * (neighbours - 4 x) = from, or of it over share where the first is 0, roughly.
def jacobi [n] (rounds: i32) (across: (f32, f32)) (own: f32) (share: f32) (from: [n][n]f32) (start: [n][n]f32) : [n][n]f32 =
  let (rows, columns) = across
  let factor = 1 / (own + 4 * share)
  in loop x = start for _i < rounds do
       tabulate_2d n n (\i j ->
         let here = x[i, j]
         let north = if i == 0 then rows * here else x[i - 1, j]
         let south = if i == n - 1 then rows * here else x[i + 1, j]
         let west = if j == 0 then columns * here else x[i, j - 1]
         let east = if j == n - 1 then columns * here else x[i, j + 1]
         in (from[i, j] + share * (north + south + west + east)) * factor)

-- Without sources: minus the gradient of a pressure.
def project [n] (rounds: i32) (u: [n][n]f32) (v: [n][n]f32) : ([n][n]f32, [n][n]f32) =
  let sources =
    tabulate_2d n n (\i j ->
      let north = if i == 0 then -u[i, j] else u[i - 1, j]
      let south = if i == n - 1 then -u[i, j] else u[i + 1, j]
      let west = if j == 0 then -v[i, j] else v[i, j - 1]
      let east = if j == n - 1 then -v[i, j] else v[i, j + 1]
      in -0.5 * (south - north + east - west))
  let p = jacobi rounds solid 0 1 sources (replicate n (replicate n 0))
  let u' = tabulate_2d n n (\i j -> u[i, j] - 0.5 * (p[i64.min (i + 1) (n - 1), j] - p[i64.max (i - 1) 0, j]))
  let v' = tabulate_2d n n (\i j -> v[i, j] - 0.5 * (p[i, i64.min (j + 1) (n - 1)] - p[i, i64.max (j - 1) 0]))
  in (u', v')

-- Where the flow to a point comes from: a square of points, and how far into it.
def origin [n] (time: f32) (u: [n][n]f32) (v: [n][n]f32) (i: i64) (j: i64) =
  let last = f32.i64 (n - 1)
  let within a = f32.max 0 (f32.min last a)
  let y = within (f32.i64 i - time * u[i, j])
  let z = within (f32.i64 j - time * v[i, j])
  let (i0, j0) = (i64.f32 y, i64.f32 z)
  in ((i0, i64.min (i0 + 1) (n - 1), y - f32.i64 i0), (j0, i64.min (j0 + 1) (n - 1), z - f32.i64 j0))

-- What is there.
def between [n] (x: [n][n]f32) ((i0, i1, s): (i64, i64, f32), (j0, j1, t): (i64, i64, f32)) : f32 =
  (1 - s) * ((1 - t) * x[i0, j0] + t * x[i0, j1]) + s * ((1 - t) * x[i1, j0] + t * x[i1, j1])

def advect [n] (time: f32) (u: [n][n]f32) (v: [n][n]f32) (x: [n][n]f32) : [n][n]f32 =
  tabulate_2d n n (\i j -> between x (origin time u v i j))

-- The flow itself: both directions at once, as they come from the same place.
def advect_flow [n] (time: f32) (u: [n][n]f32) (v: [n][n]f32) : ([n][n]f32, [n][n]f32) =
  unzip (map unzip (tabulate_2d n n (\i j -> let from = origin time u v i j in (between u from, between v from))))

-- ==
-- input { 1i32 3i32 [[0.1f32, 0.5f32], [0.9f32, 0.2f32]] [[0.5f32, 0.6f32], [0.1f32, 0f32]] [[1f32, 0f32], [0f32, 0.5f32]] } auto output
-- compiled random input { 5i32 20i32 [512][512]f32 [512][512]f32 [512][512]f32 }
def main [n] (steps: i32) (rounds: i32) (u: [n][n]f32) (v: [n][n]f32) (smoke: [n][n]f32)
    : ([n][n]f32, [n][n]f32, [n][n]f32) =
  let time = 2 : f32
  let diffuse across x = jacobi rounds across 1 0.2 x x
  in loop (u, v, smoke) for _s < steps do
       let (u, v) = project rounds (diffuse vertical u) (diffuse horizontal v)
       let (u, v) = uncurry (project rounds) (advect_flow time u v)
       in (u, v, advect time u v (diffuse solid smoke))
