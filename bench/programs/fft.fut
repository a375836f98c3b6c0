-- Fourier transforms of many blocks of 32 x 32 elements, by recursion of split radix: an array of one length is cut into one of a half
-- and two of a quarter of it (Preserving Regularity, section 5).
import "random"

type complex = (f32, f32)
def plus ((a, b): complex) ((c, d): complex) : complex = (a + c, b + d)
def minus ((a, b): complex) ((c, d): complex) : complex = (a - c, b - d)
def times ((a, b): complex) ((c, d): complex) : complex = (a * c - b * d, a * d + b * c)

def transform [n] (xs: [n]complex) : [n]complex =
  if n < 2 then xs
  else if n == 2 then ([plus xs[0] xs[1], minus xs[0] xs[1]] :> [n]complex)
  else let q = n / 4
       let us = transform xs[0:n:2]
       let zs = transform xs[1:n:4]
       let ws = transform xs[3:n:4]
       in map (\i -> let k = i % q
                     let t = -2 * f32.pi * f32.i64 k / f32.i64 n
                     let z = times (f32.cos t, f32.sin t) zs[k]
                     let w = times (f32.cos (3 * t), f32.sin (3 * t)) ws[k]
                     let (sr, si) = plus z w
                     let (dr, di) = minus z w
                     let part = i / q
                     in if part == 0 then plus us[k] (sr, si)
                        else if part == 1 then plus us[k + q] (di, -dr)
                        else if part == 2 then minus us[k] (sr, si)
                        else minus us[k + q] (di, -dr))
              (iota n)

-- ==
-- entry: generate
-- input { 0i64 } output { empty([0][32][32]f32) empty([0][32][32]f32) }
entry generate (n: i64) : ([n][32][32]f32, [n][32][32]f32) =
  let block seed = tabulate_3d n 32 32 (\i j k -> unit seed ((i * 32 + j) * 32 + k))
  in (block 1, block 2)

-- ==
-- entry: one
-- input { [1f32, 2f32, 3f32, 4f32] } output { [10f32, -2f32, -2f32, -2f32] [0f32, 2f32, 0f32, -2f32] }
-- input { [1f32, 0f32, 0f32, 0f32, 0f32, 0f32, 0f32, 0f32] } output { [1f32, 1f32, 1f32, 1f32, 1f32, 1f32, 1f32, 1f32] [0f32, 0f32, 0f32, 0f32, 0f32, 0f32, 0f32, 0f32] }
entry one [n] (xs: [n]f32) : ([n]f32, [n]f32) = unzip (transform (map (\x -> (x, 0)) xs))

-- ==
-- script input { generate 2i64 } auto output
-- compiled script input { generate 1000i64 }
def main [n] (re: [n][32][32]f32) (im: [n][32][32]f32) : ([n][32][32]f32, [n][32][32]f32) =
  let block res ims =
    let rows = map transform (map2 zip res ims)
    in transpose (map transform (transpose rows))
  in unzip (map unzip (map (\b -> map unzip b) (map2 block re im)) |> map (\(a, b) -> (a, b)))
