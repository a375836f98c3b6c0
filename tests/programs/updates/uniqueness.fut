-- What may be consumed: arrays that nobody else can see.
-- ==
-- entry: branches
-- input { [1i64, 2i64] true } output { [7i64, 2i64] }
-- input { [1i64, 2i64] false } output { [1i64, 7i64] }
entry branches (xs: *[2]i64) (b: bool) = if b then xs with [0] = 7 else xs with [1] = 7

-- ==
-- entry: parts
-- input { 3i64 } output { [1i64, 1i64, 2i64] [0i64, 0i64, 2i64] }
entry parts (n: i64) =
  let (xs, ys) = (iota n, iota n)
  let xs[0] = ys[1]
  let ys[1] = 0
  in (xs, ys)

-- ==
-- entry: swapped
-- input { 4i64 } output { [2i64, 1i64, 2i64, 3i64] [3i64, 1i64, 2i64, 3i64] }
entry swapped (n: i64) =
  loop (xs, ys) = (iota n, iota n) for i < n do (ys, xs with [0] = i)

-- ==
-- entry: kept
-- input { [3i64, 4i64] } output { [3i64, 4i64] [0i64, 4i64] [3i64, 0i64] }
entry kept (xs: []i64) =
  let clear (i: i64) = copy xs with [i] = 0
  in (xs, clear 0, clear 1)

def cleared (n: i64) = replicate n 5i64

-- ==
-- entry: inferred
-- input { 2i64 } output { [1i64, 5i64] [5i64, 1i64] }
entry inferred (n: i64) = (cleared n with [0] = 1, cleared n with [1] = 1)

type~ state = { values: []i64, count: i64 }

def step (s: *state) : *state =
  let k = s.count
  let s = s with values[k] = k * k
  in s with count = k + 1

-- ==
-- entry: records
-- input { 3i64 } output { [0i64, 1i64, 4i64] 3i64 }
entry records (n: i64) =
  let s = loop s: *state = { values = replicate n 9, count = 0 } for _i < n do step s
  in (s.values, s.count)

module type box = {
  type t
  val make : i64 -> *t
  val set : *t -> i64 -> *t
  val sum : t -> i64
}

module twice (b: box) = {
  def run (n: i64) : (i64, i64) =
    let x = b.set (b.set (b.make n) 0) 1
    in (b.sum x, b.sum (b.make n))
}

module arrays = twice {
  type t = [3]i64
  def make (n: i64) : *t = replicate 3 n
  def set (x: *t) (i: i64) : *t = x with [i] = 0
  def sum (x: t) = i64.sum x
}

-- ==
-- entry: abstract
-- input { 4i64 } output { 4i64 12i64 }
entry abstract (n: i64) = arrays.run n

-- ==
-- entry: rows
-- input { [[1i64, 2i64], [3i64, 4i64]] } output { [[4i64, 3i64], [2i64, 1i64]] }
entry rows [n] [m] (xss: *[n][m]i64) =
  loop xss for i < n / 2 do
    let first = reverse xss[i]
    let last = reverse xss[n - 1 - i]
    let first = copy first
    let xss[i] = copy last
    in xss with [n - 1 - i] = first
