-- Branches of different sizes: the size of the result is existential, and no branch fixes the size of a parameter.
-- ==
-- entry: or_default
-- input { [1u8, 2u8] } output { [1u8, 2u8] }
-- input { empty([0]u8) } output { [7u8, 8u8, 9u8] }

entry or_default (xs: []u8) : []u8 =
  let ys = if length xs == 0 then [7u8, 8, 9] else xs
  in ys

-- ==
-- entry: longer
-- input { [1, 2, 3] [4, 5] } output { [1, 2, 3] 3i64 }
-- input { [1] [4, 5] } output { [4, 5] 2i64 }

entry longer (xs: []i32) (ys: []i32) : ([]i32, i64) =
  let zs = if length xs >= length ys then xs else ys
  in (zs, length zs)

-- ==
-- entry: longer_first
-- input { [1, 2, 3] [4, 5] } output { 321i32 }
-- input { [1] [4, 5] } output { 451i32 }

entry longer_first xs (ys: []i32) : i32 =
  let (a, b) = if length xs < length ys then (ys, xs) else (reverse xs, [] : []i32)
  in foldl (\n x -> n * 10 + x) 0 (concat a b)

-- ==
-- entry: word
-- input { 1 [9u8] } output { "one" }
-- input { 2 [9u8] } output { "several" }
-- input { 0 [9u8] } output { [9u8] }

entry word (n: i32) (default: []u8) : []u8 =
  match n
  case 1 -> "one"
  case 2 -> "several"
  case _ -> default

-- ==
-- entry: no_rows
-- input { true } output { empty([0][2]i32) }
-- input { false } output { [[1, 2]] }

entry no_rows (none: bool) : [][2]i32 = if none then [] else [[1, 2]]

-- A payload of the other branch decides the sizes of a constructor.
-- ==
-- entry: payload
-- input { true } output { 0i64 }
-- input { false } output { 3i64 }

type maybe 't = #none | #some t

entry payload (none: bool) : i64 =
  let m : maybe ([]i32) = if none then #none else #some [1, 2, 3]
  in match m case #none -> 0 case #some xs -> length xs

-- One of two fields of a record keeps the sizes of both.
-- ==
-- entry: fields
-- input { true [1i64, 2i64] [3i64] } output { 3i64 }
-- input { false [1i64, 2i64] [3i64] } output { 3i64 }
-- input { false [1i64, 2i64] [3i64, 4i64, 5i64] } output { 12i64 }

module type pair = {
  type~ t
  val mk [n] [k] : [n]i64 -> [k]i64 -> t
  val sum : bool -> t -> i64
}

module halves : pair = {
  type~ t = {left: []i64, right: []i64}
  def mk left right : t = {left, right}
  def sum first (t: t) = i64.sum (if first then t.left else t.right)
}

entry fields (first: bool) (left: []i64) (right: []i64) : i64 = halves.sum first (halves.mk left right)

module type layers = {
  type layer [n] [m]
  val mk [n] [m] : [n][m]f32 -> [n]f32 -> layer [n] [m]
  val side [n] [m] : bool -> layer [n] [m] -> []f32
}

module dense : layers = {
  type layer [n] [m] = {weights: [n][m]f32, bias: [n]f32}
  def mk [n] [m] (weights: [n][m]f32) (bias: [n]f32) : layer [n] [m] = {weights, bias}
  def side bias (l: layer [] []) = if bias then l.bias else flatten l.weights
}

-- ==
-- entry: sides
-- input { [[1f32, 2f32], [3f32, 4f32]] [5f32, 6f32] } output { [5f32, 6f32] [1f32, 2f32, 3f32, 4f32] }

entry sides [n] [m] (weights: [n][m]f32) (bias: [n]f32) : ([]f32, []f32) =
  let l = dense.mk weights bias
  in (dense.side true l, dense.side false l)

-- In a `map` the rows have any lengths.
-- ==
-- entry: rows
-- input { [[5, 1, 4], [2, 2, 2]] } output { [1i64, 3i64] }

entry rows [n] [m] (xss: [n][m]i32) : [n]i64 =
  map length (map (\xs -> if xs[0] > 3 then take 1 xs else xs) xss)

-- ==
-- entry: cases
-- input { [0, 1, 2] [4i64, 5i64] } output { [0i64, 9i64, 1i64] }

entry cases [n] (ks: [n]i32) (xs: []i64) : [n]i64 =
  ks
  |> map (\k -> match k case 0 -> [] case 1 -> xs case _ -> [1])
  |> map i64.sum

-- ==
-- entry: steps
-- input { [1, 2, 3, 4, 5] 3 } output { [3, 4, 5] }
-- input { [1, 2, 3, 4, 5] 0 } output { [1, 2, 3, 4, 5] }

entry steps (xs: []i32) (k: i32) : []i32 =
  loop ys = xs for i < k do if i == 1 then ys else tail ys

-- ==
-- entry: restart
-- input { [1, 2, 3, 4, 5] 4 } output { [1, 2, 3, 4] }
-- input { [1, 2] 1 } output { [2] }

entry restart (xs: []i32) (k: i32) : []i32 =
  loop ys = xs for i < k do if i == 3 then init xs else tail ys

-- ==
-- entry: while_short
-- input { [1i64] } output { [1i64, 1i64, 1i64, 1i64] }
-- input { [1i64, 2i64, 3i64] } output { [1i64, 2i64, 3i64, 1i64, 2i64, 3i64] }
-- input { [1i64, 2i64, 3i64, 4i64] } output { [1i64, 2i64, 3i64, 4i64] }

entry while_short (xs: []i64) : []i64 =
  loop ys = xs while length ys < 4 do
    let zs = if length ys == 0 then [7] else ys
    in concat zs zs

-- A branch decides what nothing else does.
def either first xs = if first then xs else [1i32, 2, 3]

-- ==
-- entry: undecided
-- input { true } output { [11, 13, 15] }
-- input { false } output { [5, 7, 9] }

entry undecided (first: bool) : [3]i32 = map2 (+) (either first [7, 8, 9]) [4, 5, 6]
