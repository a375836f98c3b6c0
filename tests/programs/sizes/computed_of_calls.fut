-- Sizes that a function computes of an array that a call makes, and functions that need such a size and have no array of it.
def half (n: i64) : i64 = n / 2

type halves [n] = {twice: [2 * n]i64, low: [half n]i64}

def halves [n] (xs: [n]i64) : halves [n] = {twice = (xs ++ xs) :> [2 * n]i64, low = take (half n) xs}

def first [n] (h: halves [n]) : [n]i64 = take n h.twice

def positive [n] (xs: [n]i64) : i64 = i64.sum (map (\x -> if x > 0 then 1 else 0) xs)

def front [n] (xs: [n]i64) : [positive xs]i64 = take (positive xs) xs

-- ==
-- entry: of_iota
-- input { 4i64 } output { [0i64, 1, 2] }
-- input { 0i64 } output { empty([0]i64) }
entry of_iota (n: i64) : []i64 = let v = front (iota n) in first (halves v)

-- ==
-- entry: of_replicate
-- input { 2i64 3i64 } output { [3i64, 3] [3i64] }
-- input { 2i64 -3i64 } output { empty([0]i64) empty([0]i64) }
entry of_replicate (n: i64) (x: i64) : ([]i64, []i64) =
  let h = halves (front (replicate n x))
  in (first h, h.low)

-- ==
-- entry: of_branches
-- input { [4i64, -1, 2] true } output { [4i64, -1] 2i64 }
-- input { [4i64, -1, 2] false } output { [4i64, -1, 2] 3i64 }
entry of_branches [n] (xs: [n]i64) (c: bool) : ([]i64, i64) =
  let v = front (take n xs)
  let w = if c then first (halves v) else xs
  in (w, length w)

-- ==
-- entry: inside_of_map
-- input { [0i64, 2, 5] } output { [0i64, 0, 6] }
entry inside_of_map (ns: []i64) : []i64 =
  map (\n -> i64.sum (first (halves (front (iota n))))) ns
