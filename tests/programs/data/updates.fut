-- Nested updates of records and arrays, by `with` and by `let`, and paths that mix both.
type point = {x: f64, y: f64}
type body = {at: point, name: [3]u8, mass: (f64, i32)}

def made : body = {at = {x = 1, y = 2}, name = "abc", mass = (5, 7)}

-- ==
-- entry: field
-- input { 9f64 } output { 9f64 2f64 }
entry field (v: f64) =
  let b = made with at.x = v
  in (b.at.x, b.at.y)

-- ==
-- entry: by_let
-- input { 9f64 } output { 1f64 9f64 8i32 }
entry by_let (v: f64) =
  let b = made
  let b.at.y = v
  let b.mass.1 = b.mass.1 + 1
  in (b.at.x, b.at.y, b.mass.1)

-- ==
-- entry: element
-- input { [[1, 2], [3, 4]] 7 } output { [[1, 7], [3, 4]] [[1, 2], [7, 7]] [[7, 2], [7, 4]] }
entry element (m: [2][2]i32) (v: i32) =
  ( copy m with [0, 1] = v
  , copy m with [1] = [v, v]
  , copy m with [:, 0] = [v, v]
  )

-- ==
-- entry: inside
-- input { [1, 2, 3] } output { [1, 20, 3] [1, 2, 3] }
entry inside (xs: [3]i32) =
  let r = {data = copy xs, tag = true}
  let r = r with data = (copy r.data with [1] = 20)
  in (r.data, xs)

-- ==
-- entry: reversed
-- input { [1, 2, 3, 4] } output { [4, 2, 2, 4] }
entry reversed (xs: *[4]i32) : [4]i32 =
  let xs[0:3:2] = [xs[3], xs[1]]
  in xs
