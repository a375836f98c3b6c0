-- Arguments, results, directions and weights with rows of any lengths.

def squares [n] (xss: [n][..]f64) : f64 = f64.sum (map (\xs -> f64.sum (map (\x -> x * x) xs)) xss)

-- ==
-- entry: gradient
-- input { [[1.0, 2.0], [], [3.0]] }
-- output { [[2.0, 4.0], [], [6.0]] }
-- input { empty([0][0]f64) }
-- output { empty([0][0]f64) }
entry gradient [n] (xss: [n][..]f64) : [n][..]f64 = vjp squares xss 1

-- ==
-- entry: direction
-- input { [[1.0, 2.0], [], [3.0]] [[1.0, 0.5], [], [2.0]] }
-- output { 16.0 }
entry direction [n] (xss: [n][..]f64) (dss: [n][..]f64) : f64 = jvp squares xss dss

-- Rows that a function makes: their lengths are those of the weights.
-- ==
-- entry: weighted
-- input { [1.0, 2.0, 3.0] [[1.0], [1.0, 10.0], [1.0, 10.0, 100.0]] }
-- output { [1.0, 41.0, 2761.0] }
entry weighted [n] (xs: [n]f64) (wss: [n][..]f64) : [n]f64 =
  vjp (\xs -> map2 (\x i -> map (\j -> x ** f64.i64 (j + 1)) (iota (i + 1))) xs (iota n)) xs wss

-- ==
-- entry: tangents
-- input { [1.0, 2.0, 3.0] [1.0, 1.0, 2.0] }
-- output { [[1.0], [1.0, 4.0], [2.0, 12.0, 54.0]] }
entry tangents [n] (xs: [n]f64) (ds: [n]f64) : [n][..]f64 =
  jvp (\xs -> map2 (\x i -> map (\j -> x ** f64.i64 (j + 1)) (iota (i + 1))) xs (iota n)) xs ds

-- Rows that moved, some of which are gone; elements of others.
-- ==
-- entry: moved
-- input { [[1.0, 2.0], [5.0], [3.0, 4.0, 6.0]] }
-- output { [[0.0, 0.0], [0.0], [1.0, 1.0, 1.0]] [[4.0, 1.0], [0.0], [6.0, 8.0, 12.0]] }
entry moved [n] (xss: [n][..]f64) =
  let longer = vjp (\xss -> f64.sum (flatten (filter (\xs -> length xs > 2) (reverse xss)))) xss 1
  let mixed = vjp (\xss -> xss[0, 0] ** 2 + f64.sum (map (\x -> x * x) xss[n - 1]) + xss[0, 0] * xss[0, 1]) xss 1
  in (longer, mixed)

-- What is regular, and a pair of which one part is not.
-- ==
-- entry: pairs
-- input { [[1.0, 2.0], [3.0]] [2.0, 3.0] }
-- output { [[2.0, 2.0], [3.0]] [3.0, 3.0] [[1.0, 2.0], [3.0]] [1.0, 2.0] }
entry pairs [n] (xss: [n][..]f64) (ys: [n]f64) =
  let f (xss: [n][..]f64, ys: [n]f64) = map2 (\xs y -> map (* y) xs) xss ys
  let (a, b) = vjp f (xss, ys) (map (map (const 1)) xss)
  let c = jvp f (xss, ys) (map (map (const 0)) xss, replicate n 1)
  let d = vjp (\(s: f64, t: f64) -> map (\i -> replicate (i + 1) (s * t)) (iota 1)) (2.0, 1.0) (replicate 1 (replicate 1 1.0)) |> \(s, t) -> [s, t]
  in (a, b, c, d)

-- Two irregular dimensions, and a gradient of a gradient.
-- ==
-- entry: deep
-- input { [1i64, 0i64, 2i64] [2.0, 3.0, 4.0] }
-- output { [16.0, 54.0, 128.0] [24.0, 54.0, 96.0] }
entry deep [n] [m] (ls: [n]i64) (xs: [m]f64) =
  let rows xs = map (map (\x -> map (const x) (iota (i64.f64 x)))) (segment ls xs)
  let powers (xss: [n][..]f64) = f64.sum (map (\xs -> f64.sum (map (\x -> x * x * x * x) xs)) xss)
  in ( vjp (\xs -> map (map (map (\x -> x * x))) (rows xs)) xs (rows xs)
     , vjp (\xs -> f64.sum (flatten (vjp powers (segment ls xs) 1)) / 2) xs 1 )

-- The weights have other rows than the result.
-- ==
-- entry: weighted_wrongly
-- input { [1.0, 2.0] [[1.0], [1.0]] }
-- error: Rows differ in shape
-- input { [1.0, 2.0] [[1.0, 10.0], [1.0]] }
-- error: the rows of a direction or weight have other lengths
-- input { [1.0, 2.0] [[1.0], [1.0, 10.0]] }
-- output { [1.0, 41.0] }
entry weighted_wrongly [n] (xs: [n]f64) (wss: [n][..]f64) : [n]f64 =
  vjp (\xs -> map2 (\x i -> map (\j -> x ** f64.i64 (j + 1)) (iota (i + 1))) xs (iota n)) xs wss
