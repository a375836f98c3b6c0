-- Type abbreviations: plain, with type and size parameters, size-lifted and lifted; existential sizes.
type pair 'a 'b = (a, b)
type row [n] = [n]f64
type matrix [n] [m] = [n](row [m])
type~ list 'a = ?[n].[n]a
type^ transform 'a = a -> a

-- ==
-- entry: trace_of
-- input { [[1f64, 2f64], [3f64, 4f64]] } output { 5f64 }
entry trace_of [n] (m: matrix [n] [n]) : f64 = f64.sum (tabulate n (\i -> m[i, i]))

def swap 'a 'b ((x, y): pair a b) : pair b a = (y, x)

-- ==
-- entry: swapped
-- input { 1i32 true } output { true 1i32 }
entry swapped (x: i32) (y: bool) : pair bool i32 = swap (x, y)

def evens (n: i64) : list i64 = filter (\i -> i % 2 == 0) (iota n)

-- ==
-- entry: count_evens
-- input { 7i64 } output { 4i64 [0i64, 2i64, 4i64, 6i64] }
entry count_evens (n: i64) : (i64, []i64) =
  let [k] (xs: [k]i64) = evens n
  in (k, xs)

def twice 'a (f: transform a) : transform a = f >-> f

-- ==
-- entry: quadrupled
-- input { 3i32 } output { 12i32 }
entry quadrupled (x: i32) : i32 = twice (* 2) x
