-- Patterns: literals of every kind, wildcards, nesting, the unit, types, attributes.

-- ==
-- entry: signs
-- input { -1i8 } output { 10 } input { 0i8 } output { 20 } input { -128i8 } output { 30 } input { 5i8 } output { 40 }
entry signs (x: i8) : i32 =
  match x
  case -1 -> 10
  case 0x0 -> 20
  case -128i8 -> 30
  case _ -> 40

-- ==
-- entry: letters
-- input { "a+ z" } output { [1, 2, 3, 4] }
entry letters (s: []u8) : []i32 =
  map (\c -> match c case 'a' -> 1 case '+' -> 2 case ' ' -> 3 case _ -> 4) s

-- ==
-- entry: truth
-- input { true 1.5 } output { 1 } input { true 2.0 } output { 2 } input { false 1.5 } output { 3 }
entry truth (b: bool) (x: f64) : i32 =
  match (b, x)
  case (true, 1.5) -> 1
  case (true, _) -> 2
  case (false, _) -> 3

type tree = #leaf i32 | #pair (i32, {left: i32, right: [2]i32}) | #empty

-- ==
-- entry: nested
-- input { 0 } output { 7 } input { 1 } output { 12 } input { 2 } output { 0 } input { 3 } output { -1 }
entry nested (k: i32) : i32 =
  let t: tree =
    if k == 0 then #leaf 7
    else if k == 1 then #pair (3, {left = 4, right = [2, 3]})
    else if k == 2 then #empty
    else #leaf (-1)
  in match t
     case #leaf -1 -> -1
     case #leaf n -> n
     case #pair (a, {left, right = r}) -> a + left + i32.sum r
     case #empty -> 0

def unit () = 3i32
def swapped ((a: i32, b: i32): (i32, i32)) = (b, a)
def ignoring (_: i32) (#[unused] x: i32) = x

-- ==
-- entry: parameters
-- input { 1 2 } output { 2 1 5 }
entry parameters (a: i32) (b: i32) =
  let (p, q) : (i32, i32) = swapped (a, b)
  let () = ()
  let {x, y = (z, _)} = {x = unit (), y = (ignoring a b, p)}
  in (p, q, x + z)

-- ==
-- entry: fields
-- input { 2 } output { 7 3 [9, 1] }
entry fields (k: i32) =
  let r = {pos = (k, 3i32), name = [k, 1]}
  let r.pos = (k + 5, r.pos.1)
  let r.name = copy r.name with [0] = 9
  in (r.pos.0, r.pos.1, r.name)
