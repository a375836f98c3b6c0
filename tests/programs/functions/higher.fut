-- Higher-order functions, closures, polymorphism, operators.
def twice 't (f: t -> t) (x: t) : t = f (f x)
def compose 'a 'b 'c (f: a -> b) (g: b -> c) (x: a) : c = g (f x)
def pick 't (c: bool) (a: t) (b: t) : t = if c then a else b
def (<+>) (a: (i32, i32)) (b: (i32, i32)) = (a.0 + b.0, a.1 + b.1)

-- ==
-- entry: apply
-- input { 5 } output { 7 20 [5, 5] }
entry apply (x: i32) = (twice (+ 1) x, twice (\y -> y * 2) x, twice (\ys -> reverse ys) [x, x])

-- ==
-- entry: closures
-- input { [1, 2, 3] 10 } output { [11, 12, 13] [9, 8, 7] }
entry closures (xs: []i32) (k: i32) =
  let add y = y + k
  let from = \y -> k - y
  in (map add xs, map from xs)

-- ==
-- entry: chain
-- input { 3 } output { 8 16 }
entry chain (x: i32) = (compose (+ 1) (* 2) x, (x |> (+ 1) |> (* 2)) + ((+ 1) >-> (* 2) <| x))

-- ==
-- entry: operators
-- input { 1 2 3 4 } output { 4 6 }
entry operators a b c d = (a, b) <+> (c, d : i32)

-- ==
-- entry: infix
-- input { 3 4 } output { 25 4 }
entry infix (a: i32) (b: i32) =
  let squares x y = x * x + y * y
  in (a `squares` b, a `i32.max` b)

-- ==
-- entry: generic
-- input { true } output { 1 [2, 3] }
-- input { false } output { 2 [4, 5] }
entry generic (c: bool) = (pick c 1i32 2i32, pick c [2i32, 3] [4, 5])

-- ==
-- entry: partial
-- input { [1, 2, 3] } output { [4, 5, 6] }
entry partial (xs: []i32) =
  let add3 (a: i32) (b: i32) (c: i32) = a + b + c
  let f = add3 1
  in map (f 2) xs
