-- Minima and maxima: one element has a gradient, and the map that made it is undone there alone.

-- The first of equal ones; numbers before NaN; the neutral element first of all.
-- ==
-- entry: least most
-- input { [3.0, 1.0, 1.0, 2.0] }
-- input { [f64.inf, f64.inf] }
-- input { [-f64.inf, -f64.inf] }
-- input { [f64.nan, 1.0, f64.nan] }
-- input { [2.0, f64.nan] }
-- input { [0.0, -0.0] }
-- input { [f64.nan] }
-- input { empty([0]f64) }
entry least [n] (xs: [n]f64) : (f64, [n]f64) = let (y, dxs) = vjp2 f64.minimum xs 2 in (y, map (+ 0) dxs)
entry most [n] (xs: [n]f64) : (f64, [n]f64) = let (y, dxs) = vjp2 f64.maximum xs 2 in (y, map (+ 0) dxs)

-- ==
-- entry: known
-- input { [3.0, -4.0, 1.0, 2.0] [1.0, 2.0, 1.0, -1.0] }
-- output { 16.0 [0.0, -8.0, 0.0, 0.0] [0.0, 0.0, 0.0, 0.0] -8.0 [0.0, 2.0, 0.0, 0.0] [0.0, -4.0, 0.0, 0.0] }
entry known [n] (xs: [n]f64) (ys: [n]f64) =
  let (a, as) = vjp2 (\xs -> f64.maximum (map (** 2) xs)) xs 1
  let (b, (bs, cs)) = vjp2 (\(xs, ys) -> f64.minimum (map2 (*) xs ys)) (xs, ys) 1
  in (a, map (+ 0) as, map (+ 0) (vjp (\ys -> f64.maximum (map2 (*) xs ys)) ys 0), b, map (+ 0) bs, map (+ 0) cs)

-- Zeros without a sign.
def plain [n] [k] [d] (x: f64, (points: [n][d]f64, centres: [k][d]f64)) = (x, map (map (+ 0)) points, map (map (+ 0)) centres)

def distance [d] (a: [d]f64) (b: [d]f64) : f64 = f64.sum (map2 (\x y -> (x - y) ** 2) a b)

-- The nearest of some centres: in nests, with a further use of what the minimum is of, with branches and loops in the map.
-- ==
-- entry: centres used_twice in_loops
-- input { [[0.0, 1.0], [2.0, 2.0], [5.0, -1.0]] [[0.5, 1.0], [4.0, 4.0]] }
-- input { [[0.0, 1.0], [2.0, 2.0], [5.0, -1.0]] [[0.5, 1.0], [4.0, 4.0], [0.0, 0.0], [4.0, 3.0]] }
-- input { [[0.0, 1.0]] empty([0][2]f64) }
-- input { empty([0][2]f64) [[0.5, 1.0]] }
entry centres [n] [k] [d] (points: [n][d]f64) (centres: [k][d]f64) =
  let cost (points, centres) = f64.sum (map (\p -> let x = f64.minimum (map (distance p) centres) in if x > 1e9 then 0 else x) points)
  in plain (vjp2 cost (points, centres) 1)

entry used_twice [n] [k] [d] (points: [n][d]f64) (centres: [k][d]f64) =
  let cost (points, centres) =
    map (\p -> let ds = map (distance p) centres
               let (low, high) = (f64.minimum ds, f64.maximum ds)
               in if low > high then 0 else low * high + f64.sum ds) points
  let (ys, (dp, dc)) = vjp2 cost (points, centres) (replicate n 1)
  in (ys, (plain (0, (dp, dc))).1, (plain (0, (dp, dc))).2)

entry in_loops [n] [k] [d] (points: [n][d]f64) (centres: [k][d]f64) =
  let cost (points: [n][d]f64, centres: [k][d]f64) =
    loop s = 0 for p in points do
      let ds = map (\c -> if c[0] > 1 then loop x = 0 for i < d do x + (c[i] - p[i]) ** 2 else distance p c) centres
      let x = f64.minimum ds
      in if x > 1e9 then s else s * 2 + x
  in plain (vjp2 cost (points, centres) 1)

-- A map that reads no array.
-- ==
-- entry: constant
-- input { 3.0 4i64 } output { 9.0 6.0 }
-- input { 3.0 0i64 } output { f64.inf 0.0 }
entry constant (x: f64) (n: i64) = vjp2 (\x -> f64.minimum (map (\_ -> x * x) (iota n))) x 1

-- Second derivatives.
-- ==
-- entry: second
-- input { [[0.0, 1.0], [2.0, 2.0], [5.0, -1.0]] [[0.5, 1.0], [4.0, 4.0]] } output { [[6.0, 6.0], [0.0, 0.0]] }
entry second [n] [k] [d] (points: [n][d]f64) (centres: [k][d]f64) =
  let cost centres = f64.sum (map (\p -> f64.minimum (map (distance p) centres)) points)
  in jvp (\c -> vjp cost c 1) centres (replicate k (replicate d 1))
