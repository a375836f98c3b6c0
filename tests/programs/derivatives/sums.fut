-- Values of sum types: a derivative is of the constructor of what it is the derivative of.

type shape = #circle f64 | #rectangle f64 f64 | #none

def area (s: shape) : f64 =
  match s
  case #circle r -> 3 * r * r
  case #rectangle a b -> a * b
  case #none -> 0

def shown (s: shape) : (i32, f64, f64) =
  match s
  case #circle r -> (1, r, 0)
  case #rectangle a b -> (2, a, b)
  case #none -> (3, 0, 0)

-- ==
-- entry: gradients
-- input { [1.0, 2.0, 3.0] } output { [1, 2, 3] [6.0, 5.0, 0.0] [0.0, 2.0, 0.0] }
entry gradients [n] (xs: [n]f64) =
  let of i : shape = if i == 0 then #circle xs[0] else if i == 1 then #rectangle xs[1] 5 else #none
  in unzip3 (tabulate n (\i -> shown (vjp area (of i) 1)))

-- Arrays of sums, in and out.

def of (x: f64) : shape = if x > 0 then #circle x else #rectangle x x

def scaled (k: f64) (s: shape) : shape =
  match s
  case #circle r -> #circle (k * r * r)
  case #rectangle a b -> #rectangle (k * a) b
  case #none -> #none

-- ==
-- entry: backward
-- input { [1.0, -2.0, 3.0] } output { [1, 2, 1] [20.0, 0.0, 60.0] [0.0, 10.0, 0.0] }
entry backward [n] (xs: [n]f64) =
  let weights : [n]shape = map (\x -> if x > 0 then #circle 1 else #rectangle 0 10) xs
  in unzip3 (map shown (vjp (map (scaled 10)) (map of xs) weights))

-- ==
-- entry: forward
-- input { [1.0, -2.0, 3.0] } output { [1, 2, 1] [1.0, 1.0, 1.0] [0.0, 1.0, 0.0] }
entry forward [n] (xs: [n]f64) =
  unzip3 (map shown (jvp (map of) xs (replicate n 1)))
