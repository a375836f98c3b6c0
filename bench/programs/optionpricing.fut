-- The price of an option on the worst of three underlyings by Monte Carlo: Sobol numbers, the inverse of the normal distribution, a Brownian
-- bridge, correlated geometric Brownian paths, and the mean of what the option pays.

-- Direction numbers of so many dimensions. The polynomials are the primitive ones over two elements, by degree; the first numbers of a dimension are odd and
-- else any.
-- ==
-- entry: directions
-- input { 5i64 3i64 16i64 } auto output
entry directions (paths: i64) (under: i64) (dates: i64) : (i64, i64, [][30]u32) =
  let degree p = loop s = 0u32 while (p >> (s + 1)) != 0 do s + 1
  let times_x p s x = let y = x << 1 in if (y >> s) & 1 == 1 then y ^ p else y
  let is_primitive (p: u32) =
    let s = degree p
    let (_, period) = loop (x, k) = (times_x p s 1, 1u32) while x > 1 && k < 1 << s do (times_x p s x, k + 1)
    in p & 1 == 1 && period == (1 << s) - 1
  let polynomials = filter is_primitive (map u32.i64 (2...1023))
  let dimension d =
    if d == 0 then map (\i -> 1 << (29 - u32.i64 i)) (iota 30) else
    let p = polynomials[d - 1]
    let s = degree p
    let first i = let m = (u32.i64 d * 2654435761 + u32.i64 i * 40503) >> 7 in ((m | 1) & ((2 << u32.i64 i) - 1)) << (29 - u32.i64 i)
    in loop v = map first (iota 30) for i in i64.u32 s..<30 do
         let new = loop x = v[i - i64.u32 s] >> s for k in 1...i64.u32 s do
                     if (p >> (s - u32.i64 k)) & 1 == 1 then x ^ v[i - k] else x
         in v with [i] = new
  in (paths, dates, map dimension (iota (under * dates)))

-- The number for which the normal distribution has this value (Acklam's rational approximations, relative error 1e-9).
def inverse_normal (p: f64) : f64 =
  let tail q =
    (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838) * q - 2.549732539343734) * q + 4.374664141464968) * q + 2.938163982698783)
    / ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996) * q + 3.754408661907416) * q + 1)
  -- Both tails are alike.
  let outside = f64.min p (1 - p)
  in if outside < 0.02425 then
       let q = tail (f64.sqrt (-2 * f64.log outside))
       in if p < 0.5 then q else -q
     else
       let q = p - 0.5
       let r = q * q
       in (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r + 1.383577518672690e+02) * r - 3.066479806614716e+01) * r + 2.506628277459239) * q
          / (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r + 6.680131188771972e+01) * r - 1.328068155288572e+01) * r + 1)

-- A Brownian path at dates one apart, of as many as a power of two: the last date first, then the middle between two that are known.
def bridge [n] (z: [n]f64) : *[n]f64 =
  let path = replicate n 0 with [n - 1] = f64.sqrt (f64.i64 n) * z[0]
  let (path, _, _) =
    loop (path, used, width) = (path, 1, n) while width > 1 do
      let half = width / 2
      let deviation = 0.5 * f64.sqrt (f64.i64 width)
      let path = loop path for k < n / width do
                   let left = if k == 0 then 0 else path[k * width - 1]
                   let right = path[(k + 1) * width - 1]
                   in path with [k * width + half - 1] = 0.5 * (left + right) + deviation * z[used + k]
      in (path, used + n / width, half)
  in path

-- ==
-- entry: main
-- input { 5i64 4i64 [[536870912u32, 268435456u32, 134217728u32], [536870912u32, 805306368u32, 671088640u32]] } auto output
-- compiled script input { directions 131072i64 3i64 16i64 }
entry main [dims] [bits] (paths: i64) (dates: i64) (vectors: [dims][bits]u32) : f64 =
  let under = dims / dates
  let volatility u = 0.2 + 0.05 * f64.i64 u
  let (years, rate, correlation) = (1.0, 0.03, 0.4) : (f64, f64, f64)
  let dt = years / f64.i64 dates
  -- Number i of a dimension has the directions of the bits of the Gray code of i; high and low bits of i have theirs apart.
  let sobol (i: i64) (v: [bits]u32) =
    let gray = u32.i64 (i ^ (i >> 1))
    in loop x = 0u32 for b < bits do if (gray >> u32.i64 b) & 1 == 1 then x ^ v[b] else x
  let block = 256
  let low = map (\i -> map (sobol i) vectors) (iota block)
  let high = map (\h -> map (sobol (h * block)) vectors) (iota ((paths + block) / block))
  let payment (i: i64) : f64 =
    let uniform d = f64.u32 (high[i / block, d] ^ low[i % block, d]) / 1073741824
    let steps = tabulate under (\u -> bridge (map (\t -> inverse_normal (uniform (u * dates + t))) (iota dates)))
    -- The first underlying moves all others.
    let growth u t =
      let both = if u == 0 then steps[u, t] else correlation * steps[0, t] + f64.sqrt (1 - correlation * correlation) * steps[u, t]
      let s = volatility u
      in f64.exp ((rate - 0.5 * s * s) * dt * f64.i64 (t + 1) + s * f64.sqrt dt * both)
    let mean u = f64.sum (map (growth u) (iota dates)) / f64.i64 dates
    let worst = f64.minimum (map mean (iota under))
    in f64.max 0 (worst - 0.9)
  in f64.exp (-rate * years) * f64.sum (map (\i -> payment (i + 1)) (iota paths)) / f64.i64 paths
