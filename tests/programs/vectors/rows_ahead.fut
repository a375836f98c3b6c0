-- Points that read rows of their own and elements that these say, and have much to do with them: what the next points will read is asked for.

def mix (a: f32) (b: f32) (c: f32) (d: f32) : (f32, f32, f32, f32) =
  let p = a * 0.5 + b * 0.25 - c * d
  let q = b * 0.5 - a * 0.125 + d
  let r = c * 0.75 + d * 0.0625 - p * 0.5
  let s = d * 0.25 + p * q * 0.03125 - r
  in (p, q, r, s)

def long (x: f32) (y: f32) (f: [3]f32) : f32 =
  let (a, b, c, d) = mix x y f[0] f[1]
  let (a, b, c, d) = mix b c (d * f[2]) a
  let (a, b, c, d) = mix (c - f[0]) d a b
  let (a, b, c, d) = mix d a b (c + f[1])
  let (a, b, c, d) = mix (a * f[2]) c d b
  in a + b * 0.5 + c * 0.25 + d

-- Neighbours of so many points, or -1 for none, and the faces between.
-- ==
-- entry: mesh
-- input { 3i64 } auto output
entry mesh (n: i64) : ([n]f32, [n][4]i32, [n][4][3]f32) =
  (tabulate n (\i -> f32.i64 ((i * 37) % 101) / 101),
   tabulate_2d n 4 (\i k -> i32.i64 (if (i + k) % 7 == 0 then -1 else (i * 31 + k * 17) % n)),
   tabulate_3d n 4 3 (\i k c -> f32.i64 ((i * 5 + k * 3 + c) % 11) / 11))

-- ==
-- entry: around
-- script input { mesh 0i64 } auto output
-- script input { mesh 1i64 } auto output
-- script input { mesh 15i64 } auto output
-- script input { mesh 16i64 } auto output
-- script input { mesh 33i64 } auto output
-- script input { mesh 200i64 } auto output
entry around [n] (xs: [n]f32) (neighbours: [n][4]i32) (faces: [n][4][3]f32) : ([n]f32, [n]f32) =
  let point x (around: [4]i32) (faces: [4][3]f32) =
    let one to f = if to >= 0 then (long (x - xs[to]) (x + xs[to]) f, xs[to]) else (f[0], x)
    in reduce (\(a, b) (c, d) -> (a + c, b + d)) (0, 0) (map2 one around faces)
  in unzip (map3 point xs neighbours faces)
