-- Rows whose lengths the compiler knows, under irregular types and as rows of any lengths: sorting networks and Fourier transforms of rows
-- of 32 elements (Preserving Regularity, section 5). docs/irregular.md has what it costs not to know.

-- Bitonic sorting of 2^5 elements.
def bitonic [n] (xs: [n]i32) : [n]i32 =
  loop (xs: [n]i32) = xs for k < 5 do
    loop (xs: [n]i32) = xs for l < k + 1 do
      let d = 1 << (k - l)
      in map (\i -> let j = i ^ d
                    let up = ((i >> (k + 1)) & 1) == 0
                    in if (i < j) == up then i32.min xs[i] xs[j] else i32.max xs[i] xs[j])
             (iota n)

-- The butterflies of a Fourier transform of 2^5 elements in the order of reversed bits.
def butterflies [n] (xs: [n](f32, f32)) : [n](f32, f32) =
  loop (xs: [n](f32, f32)) = xs for s < 5 do
    let m = 1 << s
    in map (\i -> let base = (i >> (s + 1)) << (s + 1)
                  let o = i - base
                  let j = o % m
                  let (a, b) = xs[base + j]
                  let (c, d) = xs[base + j + m]
                  let t = -f32.pi * f32.i64 j / f32.i64 m
                  let (wr, wi) = (f32.cos t, f32.sin t)
                  let (er, ei) = (wr * c - wi * d, wr * d + wi * c)
                  in if o < m then (a + er, b + ei) else (a - er, b - ei))
           (iota n)

def numbers (n: i64) = map (\i -> map (\j -> i32.i64 ((i * 7919 + j * 104729) % 10007)) (iota 32)) (iota n)
def signal (n: i64) = map (\i -> map (\j -> (f32.i64 (i + j), 0f32)) (iota 32)) (iota n)

-- ==
-- entry: sorts sorts_irregular
-- input { 3i64 } output { [0i32, 340i32, 155i32] true }
entry sorts (n: i64) : ([n]i32, bool) =
  let xss : [n][..]i32 = map bitonic (numbers n)
  in (map (\r -> r[0]) xss, and (map (\r -> and (map (\i -> r[i] <= r[i + 1]) (iota 31))) xss))

entry sorts_irregular (n: i64) : ([n]i32, bool) =
  let xss : [n][..]i32 = map bitonic (segment (replicate n 32) (flatten (numbers n)))
  in (map (\r -> r[0]) xss, and (map (\r -> and (map (\i -> r[i] <= r[i + 1]) (iota 31))) xss))

-- ==
-- entry: transforms transforms_irregular
-- input { 3i64 } output { [496f32, 528f32, 560f32] }
entry transforms (n: i64) : [n]f32 =
  let xss : [n][..](f32, f32) = map butterflies (signal n)
  in map (\r -> r[0].0) xss

entry transforms_irregular (n: i64) : [n]f32 =
  let xss : [n][..](f32, f32) = map butterflies (segment (replicate n 32) (flatten (signal n)))
  in map (\r -> r[0].0) xss
