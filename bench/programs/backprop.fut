-- One step of training a net of two layers by back-propagation: many inputs, few hidden units, one output. What weights were changed by last
-- goes on for a part of it (momentum).
import "random"

def sigmoid (x: f32) : f32 = 1 / (1 + f32.exp (-x))

-- What the units of a layer tell the next.
def forward [n] [m] (input: [n]f32) (weights: [n][m]f32) (bias: [m]f32) : [m]f32 =
  map2 (\ws b -> sigmoid (b + f32.sum (map2 (*) input ws))) (transpose weights) bias

-- A weight behind a unit with value `x`, and what it is changed by.
def adjust (delta: f32) (x: f32) (weight: f32) (old: f32) : (f32, f32) =
  let change = 0.3 * delta * x + 0.3 * old
  in (weight + change, change)

-- Inputs, weights and their last changes for `n` inputs and `m` hidden units; weights are small enough for sums that sigmoids tell apart.
-- ==
-- entry: generate
-- input { 3i64 2i64 } auto output
entry generate (n: i64) (m: i64) : ([n]f32, [n][m]f32, [n][m]f32, [m]f32, [m]f32) =
  let weight seed i = (unit seed i - 0.5) / f32.sqrt (f32.i64 n)
  in (tabulate n (unit 1),
      tabulate_2d n m (\i j -> weight 2 (i * m + j)),
      tabulate_2d n m (\i j -> 0.1 * weight 3 (i * m + j)),
      tabulate m (\j -> unit 4 j - 0.5),
      tabulate m (\j -> unit 5 j - 0.5))

-- The weights of both layers and their changes, and the error before this step.
-- ==
-- input { 0.75f32 [1f32, 0.5f32] [[0.5f32, -1f32], [0.25f32, 2f32]] [[0f32, 0.5f32], [1f32, 0f32]]
--         [0f32, 0.5f32] [1f32, -0.5f32] } auto output
-- compiled script input { let (xs, ws, cs, b, out) = generate 1048576i64 16i64 in (0.25f32, xs, ws, cs, b, out) }
def main [n] [m] (target: f32) (input: [n]f32) (weights: *[n][m]f32) (changes: *[n][m]f32)
                 (bias: [m]f32) (out: [m]f32) : ([n][m]f32, [n][m]f32, [m]f32, f32) =
  let hidden = forward input weights bias
  let result = sigmoid (f32.sum (map2 (*) hidden out))
  let delta = result * (1 - result) * (target - result)
  let deltas = map2 (\h w -> h * (1 - h) * delta * w) hidden out
  let (weights, changes) =
    unzip (map unzip (map3 (\x -> map3 (\d -> adjust d x) deltas) input weights changes))
  let out = map2 (\h w -> (adjust delta h w 0).0) hidden out
  in (weights, changes, out, f32.abs (target - result))
