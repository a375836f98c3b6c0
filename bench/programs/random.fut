-- Numbers and graphs that look random, from their places alone: inputs of the irregular programs.

def mix (x: u32) : u32 =
  let x = (x ^ (x >> 16)) * 0x7feb352d
  let x = (x ^ (x >> 15)) * 0x846ca68b
  in x ^ (x >> 16)

def number (seed: u32) (i: i64) : u32 = mix (u32.i64 i + mix (seed * 0x9e3779b9 + 1))

-- A number from 0 to before 1.
def unit (seed: u32) (i: i64) : f32 = f32.u32 (number seed i >> 8) / 16777216

-- The places of numbers in ascending order, by their lowest bits; equal ones stay in their order.
def order [n] (bits: i32) (keys: [n]u32) : [n]i64 =
  (loop (keys, places) = (keys, iota n) for b < bits do
     let zeros = map (\k -> i64.u32 (1 - (k >> u32.i32 b) & 1)) keys
     let before = map2 (-) (scan (+) 0 zeros) zeros
     let all = i64.sum zeros
     let to = map3 (\i z p -> if z == 1 then p else all + i - p) (iota n) zeros before
     in (scatter (copy keys) to keys, scatter (copy places) to places)).1

-- R-MAT (Chakrabarti et al.): `m` links among `2^bits` nodes. Each bit of both ends falls into one of four quarters, of which one is likely, so
-- that few nodes have most links. Of each node the number of links, then where all links lead to, node after node.
def rmat (bits: i32) (m: i64) : ([]i64, [m]i64) =
  let link (i: i64) : (u32, u32) =
    loop (from, to) = (0, 0) for b < bits do
      let x = unit (u32.i32 b) i
      let (f, t) = if x < 0.57 then (0, 0) else if x < 0.76 then (0, 1) else if x < 0.95 then (1, 0) else (1, 1)
      in (from << 1 | f, to << 1 | t)
  let (from, to) = unzip (map link (iota m))
  let places = order bits from
  let degrees = reduce_by_index (replicate (1 << i64.i32 bits) 0) (+) 0 (map i64.u32 from) (rep 1)
  in (degrees, map (\p -> i64.u32 to[p]) places)

-- ==
-- entry: degrees_and_ends
-- input { 2i32 6i64 } output { 6i64 true true }
entry degrees_and_ends (bits: i32) (m: i64) : (i64, bool, bool) =
  let (degrees, to) = rmat bits m
  in (i64.sum degrees, length degrees == 1 << i64.i32 bits, and (map (\t -> 0 <= t && t < length degrees) to))

-- ==
-- entry: orders
-- input { [3u32, 1u32, 2u32, 1u32, 0u32] } output { [4i64, 1i64, 3i64, 2i64, 0i64] }
entry orders (keys: []u32) : []i64 = order 2 keys
