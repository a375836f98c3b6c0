-- Lambdas: with patterns and result types, and applied where they stand, to functions as well.

-- ==
-- entry: patterns
-- input { [1, 2] [3, 4] } output { [4, 6] [2, 2] }
entry patterns (xs: []i32) (ys: []i32) =
  let sums = map (\(x, y): i32 -> x + y) (zip xs ys)
  let gaps = map (\{a: i32, b} -> b - a) (map2 (\a b -> {a, b}) xs ys)
  in (sums, gaps)

-- What a lambda is applied to tells the sizes that its calls compute.
-- ==
-- entry: applied
-- input { [3, -4, 5] } output { [3, 5] [3] 7i64 }
entry applied (xs: []i32) =
  let positive = (\f -> f) filter (> 0) xs
  let small = (\g p ys -> g p ys) (\p ys -> filter p ys) (\x -> x > 0 && x < 4) xs
  in (positive, small, (\n -> length (replicate n 'x')) 7)

-- ==
-- entry: polymorphic
-- input { 5 } output { 11 [5, 5] true }
entry polymorphic (n: i32) =
  let twice 'a (f: a -> a) (x: a) : a = f (f x)
  let pair [k] 't (xs: [k]t) (x: t) : [k]t = map (const x) xs
  let (<+>) = \a b -> a * 10 + b
  in (twice (+ 3) n, pair [1, 2] n, (1 <+> n) == 15)
