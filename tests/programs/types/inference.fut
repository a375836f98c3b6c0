-- What is inferred: types of parameters and results, sizes, instances of polymorphic functions; typed holes that no run reaches.
def compose f g x = g (f x)
def first (x, _) = x
def const_of 'a 'b (x: a) (_: b) : a = x

-- ==
-- entry: inferred
-- input { 3i64 } output { 4i64 8f32 3i64 }
entry inferred (x: i64) =
  (compose (+ 1) id x, compose f32.i64 (+ 5) x, first (const_of (x, true) 'c'))

-- A local function with type parameters.
-- ==
-- entry: local_polymorphic
-- input { 1i32 true } output { 1i32 1i32 true true }
entry local_polymorphic (x: i32) (y: bool) =
  let dup 'a (v: a) : (a, a) = (v, v)
  let (a, b) = dup x
  let (c, d) = dup y
  in (a, b, c, d)

-- ==
-- entry: hole
-- input { 1i32 } output { 2i32 }
-- input { 0i32 } error: hole
entry hole (x: i32) : i32 = if x > 0 then x + 1 else ???

-- A size parameter is a variable of type `i64`; sizes may be expressions.
def chunks [n] (k: i64) (xs: [n * k]i32) : [n]i32 = map i32.sum (unflatten xs)

-- ==
-- entry: chunked
-- input { [1, 2, 3, 4, 5, 6] } output { [3, 7, 11] 6i64 }
entry chunked [n] (xs: [n]i32) : ([]i32, i64) =
  let half = n / 2
  in (chunks 2 (xs :> [half * 2]i32), n)
