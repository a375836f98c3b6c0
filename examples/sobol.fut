-- Numerical integration with a Sobol sequence in three dimensions: the volume under a product of sines.
-- ==
-- entry: main
-- input { 1024i64 } auto output
-- input { 0i64 } output { 0f64 }
-- compiled input { 10000000i64 }

-- Direction numbers of one dimension from a primitive polynomial of degree s with inner coefficients a and the
-- first s values m (Bratley and Fox, Algorithm 659).
let directions [s] (a: u32) (m: [s]u32) : [32]u32 =
  let start = map (\i -> if i < s then m[i] << u32.i64 (31 - i) else 0) (iota 32)
  in loop v = start for i in s...31 do
       let new = loop x = v[i - s] ^ (v[i - s] >> u32.i64 s) for k in 1..<s do
                   if (a >> u32.i64 (s - 1 - k)) & 1 == 1 then x ^ v[i - k] else x
       in v with [i] = new

let first : [32]u32 = map (\i -> 1u32 << u32.i64 (31 - i)) (iota 32)
let second : [32]u32 = directions 0 [1]
let third : [32]u32 = directions 1 [1, 3]

-- Coordinate number i of a dimension: the directions of the set bits of the Gray code of i.
let coordinate (v: [32]u32) (i: u32) : f64 =
  let gray = i ^ (i >> 1)
  let bits = loop x = 0u32 for k < 32i64 do
               if (gray >> u32.i64 k) & 1 == 1 then x ^ v[k] else x
  in f64.u32 bits / 4294967296

let integrand (x: f64) (y: f64) (z: f64) : f64 =
  f64.sin (f64.pi * x) * f64.sin (f64.pi * y) * f64.sin (f64.pi * z)

-- The exact value is (2/pi)^3, about 0.258.
entry main (n: i64) : f64 =
  let sum =
    f64.sum (map (\i ->
      let i = u32.i64 i
      in integrand (coordinate first i) (coordinate second i) (coordinate third i)) (iota n))
  in if n == 0 then 0 else sum / f64.i64 n
