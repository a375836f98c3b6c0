-- Matches of many cases, which are searched: the first case that fits is taken, whatever the order of the constants.
-- ==
-- entry: numbers
-- input { [5i64, -3i64, 9223372036854775807i64, 0i64, 7i64, 100i64, 2i64, 3i64, 1000i64, -9223372036854775808i64] }
-- output { [50i64, -30i64, 1i64, 10i64, 71i64, 1000i64, 20i64, 30i64, -1i64, 2i64] }
entry numbers (xs: []i64) : []i64 =
  map (\x -> match x
             case 7 -> 71
             case 5 -> 50
             case -3 -> -30
             case 100 -> 1000
             case 7 -> 72
             case 9223372036854775807 -> 1
             case 0 -> 10
             case -9223372036854775808 -> 2
             case 2 -> 20
             case 3 -> 30
             case 5 -> 51
             case _ -> -1) xs

-- ==
-- entry: bytes
-- input { [0u8, 1u8, 127u8, 128u8, 200u8, 255u8, 9u8] } output { [1i32, 2i32, 3i32, 4i32, 5i32, 6i32, 0i32] }
entry bytes (xs: []u8) : []i32 =
  map (\x -> match x
             case 255 -> 6
             case 200 -> 5
             case 128 -> 4
             case 127 -> 3
             case 1 -> 2
             case 0 -> 1
             case 254 -> 9
             case 253 -> 8
             case _ -> 0) xs

-- Zeros of both signs are equal, and no case fits what is no number.
-- ==
-- entry: floats
-- input { [0f64, -0f64, 1.5f64, -2.5f64, f64.nan, f64.inf, 3f64, 4f64] }
-- output { [2i32, 2i32, 1i32, 3i32, 0i32, 0i32, 4i32, 5i32] }
entry floats (xs: []f64) : []i32 =
  map (\x -> match x
             case 1.5 -> 1
             case -0.0 -> 2
             case 0.0 -> 9
             case -2.5 -> 3
             case 3 -> 4
             case 4 -> 5
             case 5 -> 6
             case 6 -> 7
             case 7 -> 8
             case _ -> 0) xs

-- ==
-- entry: pairs
-- input { [1i32, 1i32, 2i32, 2i32, 3i32, 3i32, 4i32, 5i32, 6i32] [1i32, 2i32, 2i32, 7i32, 1i32, 4i32, 4i32, 5i32, 6i32] }
-- output { [11i32, 12i32, 22i32, 207i32, 31i32, 30i32, 0i32, 55i32, 66i32] }
entry pairs (xs: []i32) (ys: []i32) : []i32 =
  map2 (\x y -> match (x, y)
                case (1, 1) -> 11
                case (2, 2) -> 22
                case (1, 2) -> 12
                case (3, 1) -> 31
                case (2, z) -> z + 200
                case (2, 7) -> 999
                case (3, _) -> 30
                case (3, 4) -> 999
                case (5, 5) -> 55
                case (1, 5) -> 15
                case (6, 6) -> 66
                case (_, 9) -> 9
                case (7, 1) -> 71
                case _ -> 0) xs ys

-- The same value twice: nothing is equal to two numbers.
-- ==
-- entry: twice
-- input { 1i64 } output { 0i64 }
-- input { 4i64 } output { 44i64 }
-- input { 9i64 } output { 9i64 }
entry twice (x: i64) : i64 =
  match (x, x)
  case (1, 2) -> 12
  case (2, 3) -> 23
  case (3, 3) -> 33
  case (4, 4) -> 44
  case (5, 5) -> 55
  case (6, 6) -> 66
  case (7, 7) -> 77
  case (8, 8) -> 88
  case (9, z) -> z
  case _ -> 0

type shape =
    #point | #circle f32 | #square f32 | #rectangle f32 f32 | #line {from: f32, to: f32} | #text [3]u8 | #group i64 | #path i64
  | #none | #some bool

def area (s: shape) : f32 =
  match s
  case #none -> 0
  case #circle 0 -> -1
  case #circle r -> 3 * r * r
  case #square 2 -> 5
  case #square a -> a * a
  case #rectangle 1 b -> b
  case #rectangle a b -> a * b
  case #line {from = 0, to} -> to
  case #line {from, to} -> to - from
  case #text t -> f32.u8 t[1]
  case #some true -> 100
  case #some false -> 200
  case #group n -> f32.i64 n
  case #point -> 7
  case #path _ -> 8

-- ==
-- entry: shapes
-- input { 0i64 } output { [0f32, -1f32, 27f32, 5f32, 9f32, 4f32, 6f32, 2f32, 3f32, 98f32, 100f32, 200f32, 4f32, 7f32, 8f32] }
-- input { 1i64 } output { [0f32, 3f32, 48f32, 9f32, 16f32, 10f32, 15f32, 2f32, 3f32, 98f32, 100f32, 200f32, 5f32, 7f32, 8f32] }
entry shapes (more: i64) : []f32 =
  let m = f32.i64 more
  in map area [#none, #circle m, #circle (3 + m), #square (2 + m), #square (3 + m),
               #rectangle (1 + m) (4 + m), #rectangle (2 + m) (3 + 2 * m),
               #line {from = m, to = 2 + m}, #line {from = 1 + m, to = 4 + m}, #text "abc",
               #some true, #some false, #group (4 + more), #point, #path 1]

-- Cases that make arrays of different lengths, some of which take the argument.
-- ==
-- entry: arrays
-- input { 0i64 [1i64, 2i64, 3i64] } output { [1i64, 2i64, 3i64] }
-- input { 3i64 [1i64, 2i64, 3i64] } output { [0i64, 1i64, 2i64] }
-- input { 8i64 [1i64, 2i64, 3i64] } output { [2i64, 3i64] }
-- input { 9i64 [1i64, 2i64, 3i64] } output { empty([0]i64) }
-- input { 5i64 [1i64, 2i64, 3i64] } output { [7i64, 2i64, 3i64] }
entry arrays (x: i64) (ys: *[]i64) : []i64 =
  match x
  case 0 -> ys
  case 1 -> [1]
  case 2 -> map (+ 1) ys
  case 3 -> iota x
  case 4 -> [4, 4]
  case 5 -> ys with [0] = 7
  case 6 -> ys ++ ys
  case 7 -> reverse ys
  case 8 -> drop 1 ys
  case _ -> []

-- What fails in a case fails only there.
-- ==
-- entry: failing
-- input { 3i64 0i64 } output { 30i64 }
-- input { 8i64 2i64 } output { 50i64 }
-- input { 8i64 0i64 } error: division by zero
entry failing (x: i64) (y: i64) : i64 =
  match x
  case 1 -> 10
  case 2 -> 20
  case 3 -> 30
  case 4 -> 40 / y
  case 5 -> 50 / y
  case 6 -> 60
  case 7 -> 70
  case 8 -> 100 / y
  case _ -> 0
