-- Short strands of heart muscle of three cells each, which exchange currents with their neighbours: 24 equations of the membrane after Luo and
-- Rudy (1991), solved by the classical method of Runge and Kutta with a fixed step. Many strands are excited by currents of their own.

-- The potential (mV), six gates after Hodgkin and Huxley, and the concentration of calcium (mmol/l).
type cell = {v: f32, m: f32, h: f32, j: f32, d: f32, f: f32, x: f32, ca: f32}
type strand = (cell, cell, cell)

def exp (x: f32) : f32 = f32.exp x

-- x / (1 - exp (-x)), which is 1 where both are 0.
def bernoulli (x: f32) : f32 = if f32.abs x < 1e-3 then 1 + 0.5 * x else x / (1 - exp (-x))

-- How fast a gate moves that opens and closes at these rates.
def gate (opens: f32) (closes: f32) (y: f32) : f32 = opens * (1 - y) - closes * y

-- How fast a cell changes that is given this current.
def change (given: f32) (c: cell) : cell =
  let v = c.v
  let low = v < -40
  -- Sodium.
  let m = gate (3.2 * bernoulli (0.1 * (v + 47.13))) (0.08 * exp (-v / 11)) c.m
  let h =
    gate (if low then 0.135 * exp ((80 + v) / -6.8) else 0)
         (if low then 3.56 * exp (0.079 * v) + 3.1e5 * exp (0.35 * v)
          else 1 / (0.13 * (1 + exp ((v + 10.66) / -11.1)))) c.h
  let j =
    gate (if low then (-1.2714e5 * exp (0.2444 * v) - 3.474e-5 * exp (-0.04391 * v)) * (v + 37.78) / (1 + exp (0.311 * (v + 79.23)))
          else 0)
         (if low then 0.1212 * exp (-0.01052 * v) / (1 + exp (-0.1378 * (v + 40.14)))
          else 0.3 * exp (-2.535e-7 * v) / (1 + exp (-0.1 * (v + 32)))) c.j
  let sodium = 23 * c.m * c.m * c.m * c.h * c.j * (v - 54.4)
  -- Calcium, slowly inward.
  let d =
    gate (0.095 * exp (-0.01 * (v - 5)) / (1 + exp (-0.072 * (v - 5))))
         (0.07 * exp (-0.017 * (v + 44)) / (1 + exp (0.05 * (v + 44)))) c.d
  let f =
    gate (0.012 * exp (-0.008 * (v + 28)) / (1 + exp (0.15 * (v + 28))))
         (0.0065 * exp (-0.02 * (v + 30)) / (1 + exp (-0.2 * (v + 30)))) c.f
  let calcium = 0.09 * c.d * c.f * (v - (7.7 - 13.0287 * f32.log c.ca))
  -- Potassium: delayed, inward, and on the plateau.
  let x =
    gate (0.0005 * exp (0.083 * (v + 50)) / (1 + exp (0.057 * (v + 50))))
         (0.0013 * exp (-0.06 * (v + 20)) / (1 + exp (-0.04 * (v + 20)))) c.x
  let turned = if v > -100 then 2.837 * 0.04 * exp 1.68 / bernoulli (0.04 * (v + 77)) else 1
  let e = v + 87.26
  let opens = 1.02 / (1 + exp (0.2385 * (e - 59.215)))
  let closes = (0.49124 * exp (0.08032 * (e + 5.476)) + exp (0.06175 * (e - 594.31))) / (1 + exp (-0.5143 * (e + 4.753)))
  let potassium =
    0.282 * c.x * turned * (v + 77) + (0.6047 * opens / (opens + closes) + 0.0183 / (1 + exp ((7.488 - v) / 5.98))) * e
  let leak = 0.03921 * (v + 59.87)
  in {v = given - (sodium + calcium + potassium + leak), m, h, j, d, f, x, ca = -1e-4 * calcium + 0.07 * (1e-4 - c.ca)}

-- How fast a strand changes of which the first cell is excited.
def changes (current: f32) (coupling: f32) ((a, b, c): strand) : strand =
  let (right, left) = (coupling * (b.v - a.v), coupling * (c.v - b.v))
  in (change (current + right) a, change (left - right) b, change (-left) c)

-- `s + t * k`, of cells and of strands.
def moved (t: f32) (s: cell) (k: cell) : cell =
  {v = s.v + t * k.v, m = s.m + t * k.m, h = s.h + t * k.h, j = s.j + t * k.j,
   d = s.d + t * k.d, f = s.f + t * k.f, x = s.x + t * k.x, ca = s.ca + t * k.ca}

def all (t: f32) ((a, b, c): strand) ((p, q, r): strand) : strand = (moved t a p, moved t b q, moved t c r)

def step (t: f32) (current: f32) (coupling: f32) (s: strand) : strand =
  let first = changes current coupling s
  let second = changes current coupling (all (t / 2) s first)
  let third = changes current coupling (all (t / 2) s second)
  let fourth = changes current coupling (all t s third)
  in all (t / 6) (all (t / 3) (all (t / 3) (all (t / 6) s first) second) third) fourth

-- A cell at rest.
def rest : cell = {v = -84.5, m = 0.0017, h = 0.9832, j = 0.9895, d = 0.003, f = 1, x = 0.0057, ca = 1.8e-4}

-- The potentials of all cells, and the calcium of the last, after so many steps of 0.01 ms.
-- ==
-- input { 3i32 [0f32, 1f32] [0.5f32, 0.25f32] } auto output
-- input { 0i32 [0.5f32] [0.5f32] } output { [-84.5f32] [-84.5f32] [-84.5f32] [0.00018f32] }
-- compiled random input { 100i32 [4096]f32 [4096]f32 }
def main [n] (steps: i32) (currents: [n]f32) (couplings: [n]f32) : ([n]f32, [n]f32, [n]f32, [n]f32) =
  let run current coupling =
    loop s = (rest, rest, rest) for _i < steps do step 0.01 (80 * current) coupling s
  in unzip4 (map2 (\i g -> let (a, b, c) = run i g in (a.v, b.v, c.v, c.ca)) currents couplings)
