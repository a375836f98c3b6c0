-- Loops with loops around them have the same values and gradients.

def plain (n: i64) (x: f64) : f64 = loop y = 1 for _i < n do x * y
def one (n: i64) (x: f64) : f64 = #[stripmine(1)] loop y = 1 for _i < n do x * y
def two (n: i64) (x: f64) : f64 = #[stripmine(2)] loop y = 1 for _i < n do x * y
def many (n: i64) (x: f64) : f64 = #[stripmine(12)] loop y = 1 for _i < n do x * y

-- ==
-- entry: powers
-- input { 2.0 [0i64, 1i64, 2i64, 3i64, 9i64, 11i64] }
-- output { [1.0, 2.0, 4.0, 8.0, 512.0, 2048.0] [0.0, 1.0, 4.0, 12.0, 2304.0, 11264.0] true }
entry powers (x: f64) (ns: []i64) =
  let of f = map (\n -> vjp2 (f n) x 1) ns
  let (ys, dxs) = unzip (of plain)
  let same f = and (map2 (==) (of f) (of plain))
  in (ys, dxs, same one && same two && same many)

-- Arrays that are updated, indices of other types, and a loop over an array.
-- ==
-- entry: forms
-- input { [1.0, 2.0, 3.0, 4.0, 5.0] }
-- output { [1.0, 4.0, 9.0, 16.0, 25.0] [2.0, 4.0, 6.0, 8.0, 10.0] true 10i64 255u8 }
entry forms [n] (xs: [n]f64) =
  let squares (xs: [n]f64) =
    #[stripmine(2)]
    loop ys = copy xs for i < i32.i64 n do ys with [i64.i32 i] = ys[i64.i32 i] ** 2
  let (ys, dxs) = vjp2 squares xs (replicate n 1)
  let horner (xs: [n]f64) = loop s = 0 for x in xs do s * x + x
  let mined (xs: [n]f64) = #[stripmine(1)] loop s = 0 for x in xs do s * x + x
  in ( ys
     , dxs
     , and (map2 (==) (vjp horner xs 1) (vjp mined xs 1))
     , #[stripmine(3)] loop k = 0 for i < 5i64 do k + i
     , #[stripmine(1)] loop k: u8 = 0 for i < 255u8 do u8.max k (i + 1) )

-- A state whose size changes; loops in loops.
-- ==
-- entry: nested
-- input { 3.0 7i64 } output { [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0] true }
entry nested (x: f64) (n: i64) =
  let step (i: i64) (j: i64) (s: f64) (x: f64) = if (i + j) % 5 == 0 then s * x else s + x
  let plain (x: f64) = loop s = x for i < n do loop s for j < i do step i j s x
  let mined (x: f64) = #[stripmine(2)] loop s = x for i < n do #[stripmine(1)] loop s for j < i do step i j s x
  in ( #[stripmine(1)] loop xs = [x] for _i < n do xs ++ [x]
     , vjp2 plain x 1 == vjp2 mined x 1 )

-- `bound` is for a compiler that cannot count the iterations of a `while` loop.
-- ==
-- entry: bounded
-- input { 2.0 } output { 32.0 80.0 }
entry bounded (x: f64) =
  vjp2 (\x -> (#[bound(100)] loop (y, i) = (1, 0i32) while i < 5 do (y * x, i + 1)).0) x 1
