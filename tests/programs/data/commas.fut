-- A last comma may follow what commas separate, and fields may be numbers.
-- ==
-- entry: commas
-- input { 3 } output { 18 [4, 5, 6] true }
type point = {x: i32, y: i32,}
type pair 'a = (a, a,)

def total ({x, y,}: point) ((a, b,): pair i32) : i32 = x + y + a + b

#[inline]
entry commas (n: i32) =
  let rows = [[1, 2, 3,], [4, 5, 6,],]
  let numbered : {0: i32, 1: bool} = (n, true)
  let (first, last,) = (rows[0, 1,], rows[1, :,])
  in (total {x = n, y = n * 2,} (numbered.0, first + 4,), last, numbered.1)

-- Sections of fields and indices, also nested, and of functions in backticks.
-- ==
-- entry: sections
-- input { 7 } output { 7 6 9 [2, 5] }
entry sections (n: i32) =
  let r = {a = {b = n}, c = [[1, 2, 3], [4, 5, 6]]}
  in ((.a.b) r, (.[1, 2]) r.c, (`i32.max` 9) n, map (.[1]) r.c)
