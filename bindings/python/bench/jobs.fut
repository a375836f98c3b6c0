-- Eight usual jobs of programs in Python, for jobs.py.

def normal (d: f32) : f32 =
  let k = 1 / (1 + 0.2316419 * f32.abs d)
  let poly = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
  let tail = 0.39894228 * f32.exp (-0.5 * d * d) * poly
  in if d > 0 then 1 - tail else tail

-- | Prices of call options.
entry black_scholes [n] (spots: [n]f32) (strikes: [n]f32) (years: [n]f32) : [n]f32 =
  let price spot strike t =
    let deviation = 0.25 * f32.sqrt t
    let d1 = (f32.log (spot / strike) + (0.03 + 0.03125) * t) / deviation
    in spot * normal d1 - strike * f32.exp (-0.03 * t) * normal (d1 - deviation)
  in map3 price spots strikes years

-- | A round of Lloyd's iteration: the means of the points that are nearest to each centre.
entry k_means [n][k][d] (points: [n][d]f32) (centres: [k][d]f32) : [k][d]f32 =
  let distance a b = f32.sum (map2 (\x y -> (x - y) * (x - y)) a b)
  let nearest p =
    (loop (best, at) = (f32.inf, 0) for i < k do
       let x = distance p centres[i]
       in if x < best then (x, i) else (best, at)).1
  let members = map nearest points
  let counts = hist (+) 0 k members (replicate n 1f32)
  let sums =
    reduce_by_index_2d (replicate k (replicate d 0)) (+) 0
      (flatten (map (\c -> map (\j -> (c, j)) (iota d)) members)) (flatten points)
  in map2 (\sum count -> map (/ f32.max 1 count) sum) sums counts

-- | How bodies are accelerated by all others.
entry n_body [n] (x: [n]f32) (y: [n]f32) (z: [n]f32) (mass: [n]f32) : ([n]f32, [n]f32, [n]f32) =
  let pull (xi, yi, zi) (xj, yj, zj, m) =
    let (dx, dy, dz) = (xj - xi, yj - yi, zj - zi)
    let r2 = dx * dx + dy * dy + dz * dz + 0.01
    let f = m / (r2 * f32.sqrt r2)
    in (f * dx, f * dy, f * dz)
  let add (a, b, c) (d, e, f) = (a + d, b + e, c + f : f32)
  in unzip3 (map (\p -> reduce add (0, 0, 0) (map (pull p) (zip4 x y z mass))) (zip3 x y z))

-- | How often each of 256 numbers is there.
entry histogram [n] (xs: [n]u8) : [256]i64 = hist (+) 0 256 (map i64.u8 xs) (replicate n 1)

-- | Steps of a five-point stencil; the border stays.
entry stencil [n][m] (grid: [n][m]f32) (steps: i64) : [n][m]f32 =
  loop grid for _i < steps do
    tabulate_2d n m (\i j ->
      if i == 0 || j == 0 || i == n - 1 || j == m - 1 then grid[i, j]
      else 0.2 * (grid[i, j] + grid[i - 1, j] + grid[i + 1, j] + grid[i, j - 1] + grid[i, j + 1]))

-- | A sparse matrix, as rows of columns and values, times a vector.
entry sparse [n][m] (matrix: [n][..](i32, f64)) (x: [m]f64) : [n]f64 =
  map (\row -> f64.sum (map (\(j, a) -> a * x[j]) row)) matrix

-- A pass of a radix sort: blocks count digits, and then write their elements in order.
def pass [n] (xs: [n]u32) (shift: u32) : [n]u32 =
  let size = 1 << 17
  let blocks = (n + size - 1) / size
  let digit x = i64.u32 ((x >> shift) & 2047)
  let counts =
    map (\b -> loop c = replicate 2048 0i64 for i < i64.min size (n - b * size) do
                 let d = digit xs[b * size + i]
                 in c with [d] = c[d] + 1) (iota blocks)
  let ends = scan (+) 0 (flatten (transpose counts))
  let first = map2 (-) ends (flatten (transpose counts))
  let starts = transpose (unflatten first)
  let slots =
    map2 (\b start ->
            (loop (slots, next) = (replicate size (-1i64), copy start) for i < i64.min size (n - b * size) do
               let d = digit xs[b * size + i]
               let slot = next[d]
               in (slots with [i] = slot, next with [d] = slot + 1)).0) (iota blocks) starts
  in scatter (replicate n 0) (take n (flatten slots)) xs

-- | The numbers in order.
entry sort [n] (xs: [n]u32) : [n]u32 = loop xs for i < 3 do pass xs (u32.i64 (11 * i))

-- | The largest of each 32 neighbours.
entry windows [n] (xs: [n]f32) : []f32 =
  map (\i -> f32.maximum xs[i:i + 32]) (iota (n - 31))
