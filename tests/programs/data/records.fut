-- Tuples, records, and what can be done with their fields.
type point = {x: f32, y: f32}
type pair 'a 'b = (a, b)

-- ==
-- entry: fields
-- input { 1f32 2f32 } output { 2f32 1f32 3f32 }
entry fields (a: f32) (b: f32) =
  let p: point = {x = a, y = b}
  let {x, y} = p
  in (p.y, p.x, x + y)

-- ==
-- entry: update
-- input { 1f32 2f32 } output { 1f32 5f32 }
entry update (x: f32) (y: f32) =
  let p = {x, y} with y = 5
  in (p.x, p.y)

-- ==
-- entry: deep
-- input { 1 } output { 1 2 3 }
entry deep (k: i32) =
  let r = {a = {b = k, c = (k + 1, k + 2)}}
  in (r.a.b, r.a.c.0, r.a.c.1)

-- ==
-- entry: swap
-- input { 1 true } output { true 1 }
entry swap (a: i32) (b: bool) : (bool, i32) =
  let flip 'a 'b ((x, y): pair a b) : pair b a = (y, x)
  in flip (a, b)

-- ==
-- entry: arrays
-- input { [1f32, 2f32] [3f32, 4f32] } output { [4f32, 6f32] 6f32 }
entry arrays [n] (xs: [n]f32) (ys: [n]f32) =
  let points: [n]point = map2 (\x y -> {x, y}) xs ys
  in (map (\p -> p.x + p.y) points, (last points).x + (last points).y)
