-- Sum types and pattern matching.
type shape = #circle f32 | #rectangle f32 f32 | #nothing
type option 't = #some t | #none

def area (s: shape) : f32 =
  match s
  case #circle r -> 3f32 * r * r
  case #rectangle a b -> a * b
  case #nothing -> 0

-- ==
-- entry: areas
-- input { 2f32 5f32 } output { 12f32 10f32 0f32 }
entry areas (a: f32) (b: f32) = (area (#circle a), area (#rectangle a b), area #nothing)

-- ==
-- entry: inside
-- input { [1f32, -2f32, 3f32] } output { [3f32, 0f32, 27f32] 30f32 }
entry inside (xs: []f32) =
  let shapes = map (\x -> if x > 0 then #circle x else #nothing : shape) xs
  in (map area shapes, f32.sum (map area shapes))

-- ==
-- entry: literals
-- input { 0 } output { 10 }
-- input { 1 } output { 20 }
-- input { 7 } output { 30 }
entry literals (x: i32) =
  match x
  case 0 -> 10
  case 1 -> 20
  case _ -> 30

-- ==
-- entry: pairs
-- input { 0 5 } output { 5 }
-- input { 3 0 } output { 3 }
-- input { 3 5 } output { 8 }
entry pairs (a: i32) (b: i32) =
  match (a, b)
  case (0, y) -> y
  case (x, 0) -> x
  case (x, y) -> x + y

def first 't (p: t -> bool) (xs: []t) : option t =
  loop found = #none for x in xs do
    match found
    case #some y -> #some y
    case #none -> if p x then #some x else #none

-- ==
-- entry: search
-- input { [1, 5, 9, 12] } output { 9 }
-- input { [1, 2] } output { -1 }
entry search (xs: []i32) =
  match first (> 6) xs
  case #some x -> x
  case #none -> -1
