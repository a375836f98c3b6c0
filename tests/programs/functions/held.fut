-- A function value that holds a fresh array which it consumes: each call has the array as it was.
def zero (xs: *[]i32) (i: i32) : *[]i32 = xs with [i] = 0
def fresh (x: i32) : *[]i32 = [x, x, x]
def both (f: i32 -> []i32) : ([]i32, []i32) = (f 0, f 1)

-- ==
-- entry: twice
-- input { 7 } output { [0, 7, 7] [7, 0, 7] }
entry twice (x: i32) =
  let f = zero (fresh x)
  in (f 0, f 1)

-- ==
-- entry: passed
-- input { 7 } output { [0, 7, 7] [7, 0, 7] }
entry passed (x: i32) = both (zero (fresh x))

-- ==
-- entry: mapped
-- input { 7 } output { [[0, 7, 7], [7, 0, 7], [7, 7, 0]] }
entry mapped (x: i32) : [][]i32 =
  map (\i -> zero (fresh x) i :> [3]i32) [0, 1, 2]

-- ==
-- entry: held
-- input { 7 } output { [[0, 7, 7], [7, 0, 7], [7, 7, 0]] }
entry held (x: i32) : [][]i32 =
  let f = zero (fresh x)
  in map (\i -> f i :> [3]i32) [0, 1, 2]

-- ==
-- entry: piped
-- input { 7 } output { [7, 0, 7] }
entry piped (x: i32) : []i32 = 1i32 |> zero (fresh x)
