-- Values of a type that hides sizes are copied, and the copy is consumed.

module type table = {
  type~ t [n]
  val make [n] : [n]i32 -> t [n]
  val take_out [n] : *t [n] -> *[n]i32
  val look [n] : t [n] -> ([n]i32, i64)
}

module table : table = {
  type~ t [n] = {rows: [n]i32, held: []i32}
  def make [n] (xs: [n]i32) : t [n] = {rows = xs, held = filter (> 1) xs}
  def take_out [n] (t: *t [n]) : *[n]i32 = t.rows
  def look [n] (t: t [n]) : ([n]i32, i64) = (t.rows, length t.held)
}

-- ==
-- entry: changed
-- input { [1, 2, 3] } output { [1, 2, 3] 2i64 [1, 20, 3] }
-- input { [0] } error: out of bounds
entry changed [n] (xs: [n]i32) : ([n]i32, i64, [n]i32) =
  let t = table.make xs
  let ys = table.take_out (copy t)
  let ys[1] = 20
  let (rows, held) = table.look t
  in (rows, held, ys)
