-- Accumulators whose updates overwrite.
import "acc"

-- Every element writes two places.
-- ==
-- entry: pairs
-- input { [9, 9, 9, 9, 9, 9, 9] [1i64, 2, 3] } output { [9, 9, 1, -1, 2, -2, 3] }
-- input { empty([0]i32) [1i64] } output { empty([0]i32) }
-- input { [5] empty([0]i64) } output { [5] }
entry pairs (xs: *[]i32) (is: []i64) =
  scatter_with xs (\(a: *acc ([]i32)) i ->
                     let a = write a (2 * i) (i32.i64 i)
                     in write a (2 * i + 1) (i32.i64 (-i)))
               is

-- Places outside of the array are ignored; of the writes for one element, the last one counts.
-- ==
-- entry: outside
-- input { [1i64, 1, 1] [-1i64, 3, 1, 9223372036854775807, -9223372036854775808] } output { [1i64, 11, 1] }
entry outside (xs: *[]i64) (is: []i64) =
  scatter_with xs (\(a: *acc ([]i64)) i -> write (write a i 7) i (i + 10)) is

-- Loops of all kinds carry accumulators; how often they run depends on the element.
def fill (a: *acc ([]i64)) (lo: i64, n: i64) : *acc ([]i64) =
  loop a for k < n do write a (lo + k) (lo * 100 + k)

def halves (a: *acc ([]i64)) (x: i64) : *acc ([]i64) =
  let (a, _) =
    loop (a, y) = (a, x) while y > 0 do
      (write a y x, y / 2)
  in a

-- ==
-- entry: runs
-- input { 10i64 [0i64, 4, 7] [2i64, 0, 3] } output { [0i64, 1, -1, -1, -1, -1, -1, 700, 701, 702] }
entry runs (n: i64) (los: []i64) (ns: []i64) =
  scatter_with (replicate n (-1)) fill (zip los ns)

-- ==
-- entry: chains
-- input { 8i64 [7i64] } output { [0i64, 7, 0, 7, 0, 0, 0, 7] }
-- input { 4i64 [6i64] } output { [0i64, 6, 0, 6] }
entry chains (n: i64) (xs: []i64) = scatter_with (replicate n 0) halves xs

-- Branches write or not, and once, twice, or elsewhere.
-- ==
-- entry: branches
-- input { [0, 1, 2, 3, 4, 5] } output { [0, 10, 20, 3, 41, 42, 0, 6] }
entry branches (xs: []i32) =
  scatter_with (replicate 8 0) (\(a: *acc ([]i32)) x ->
                  match x
                  case 0 -> a
                  case 5 -> write a 7 6
                  case y ->
                    if y < 3 then write a (i64.i32 y) (y * 10)
                    else if y == 3 then write a 3 3
                    else let a = write a 4 (y * 10 + 1) in write a 5 (y * 10 + 2))
               xs

-- Rows as values, and arrays of tuples of different types.
-- ==
-- entry: rows
-- input { [[1, 2], [3, 4], [5, 6]] [2i64, 0, 9] } output { [[3, 4], [3, 4], [3, 4]] [[0.5f32, 0.0], [0.0, 0.0], [1.5, 0.0]] }
entry rows [n] [m] (xs: *[n][m]i32) (is: []i64) =
  let v = copy xs[1]
  let dest = zip xs (replicate n (replicate m 0f32))
  let put (a: *acc ([n]([m]i32, [m]f32))) i =
    let half = replicate m 0f32 with [0] = if i == 0 then 0.5 else 1.5
    in write a i (v, half)
  in unzip (scatter_with dest put is)

-- The result can be consumed again, also by another accumulation; the values can come from anywhere.
-- ==
-- entry: again
-- input { 5i64 } output { [10i64, 11, 2, 3, -1] }
entry again (n: i64) =
  let xs = scatter_with (iota n) (\(a: *acc ([]i64)) i -> write a i (i + 10)) (iota 2)
  let xs = scatter_with xs (\(a: *acc ([]i64)) (i, x) -> write a i x) (zip [4] [99])
  in xs with [4] = -1
