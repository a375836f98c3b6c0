-- Record updates whose new part is made in place of the one that it replaces.
type counts [n] = {seen: [n]i64, name: {low: [n]i64, high: [n]i64}, steps: i64}

def start (n: i64) : *counts [n] =
  {seen = replicate n 0, name = {low = replicate n 0, high = replicate n 9}, steps = 0}

def count [n] (c: *counts [n]) (x: i64) : *counts [n] =
  let i = x % n
  let c = c with seen = (c.seen with [i] = c.seen[i] + 1)
  let c = c with name.low = (c.name.low with [i] = x)
  in c with steps = c.steps + 1

-- ==
-- entry: counted
-- input { 3i64 [1i64, 4, 2, 7] }
-- output { [0i64, 3, 1] [0i64, 7, 2] [9i64, 9, 9] 4i64 }
entry counted [k] (n: i64) (xs: [k]i64) : ([]i64, []i64, []i64, i64) =
  let c = loop c = start n for x in xs do count c x
  in (c.seen, c.name.low, c.name.high, c.steps)

-- The loop's state is replaced in some steps only.
-- ==
-- entry: sometimes
-- input { [5i64, 0, 3] [0i64, 1, 0, 2] } output { [-1i64, 0, -1] [7i64, 7, 7] }
entry sometimes [n] [k] (xs: *[n]i64) (is: [k]i64) : ([]i64, []i64) =
  let r = {parents = xs, ranks = replicate n 7}
  let r = loop r for i in is do
    if r.parents[i] == 0 then r else r with parents = (r.parents with [i] = -1)
  in (r.parents, r.ranks)

-- A tuple in a record, and a value that is consumed by a function.
def zero_first [n] (xs: *[n]i64) : *[n]i64 = if n == 0 then xs else xs with [0] = 0

-- ==
-- entry: by_a_call
-- input { [[5i64, 6], [7, 8]] } output { [[0i64, 6], [0, 8]] [2i64, 2] }
entry by_a_call [n] [m] (xss: [n][m]i64) : ([n][m]i64, [n]i64) =
  map (\xs ->
         let r = {all = (copy xs, m), more = 1i64}
         let r = r with all.0 = zero_first r.all.0
         in (r.all.0, r.all.1)) xss
  |> unzip
