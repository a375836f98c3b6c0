-- A program may give the names of sequences another meaning.
type seq = i32
module seq = { def f (x: seq) : i32 = x + 1 }

-- ==
-- input { 3 } output { 4 }
entry main (n: seq) : i32 = seq.f n
