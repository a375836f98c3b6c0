-- Numbers that reductions leave for maps, in loops: the host need not wait for them.

-- ==
-- entry: normalised
-- input { [3f64, 1f64, 4f64, 1f64] 3i32 } auto output
-- input { empty([0]f64) 3i32 } auto output
entry normalised [n] (xs: [n]f64) (steps: i32) : [n]f64 =
  loop xs for _i < steps do
    let mean = f64.sum xs / f64.i64 n
    let var = f64.sum (map (\x -> (x - mean) * (x - mean)) xs) / f64.i64 n
    in map (\x -> (x - mean) / (var + 1)) xs

-- The same number is used by kernels, by a branch and by a later kernel, after what it was read from has changed.
-- ==
-- entry: shared
-- input { [3i64, 1i64, 4i64, 1i64] } auto output
-- input { [1i64] } auto output
entry shared [n] (xs: [n]i64) : ([n]i64, i64, [n]i64) =
  let s = i64.sum xs
  let ys = map (+ s) xs
  let t = if s > 5 then i64.maximum ys else s
  let zs = scan (+) t (map (* s) xs)
  in (ys, t, map (\z -> z - s + t) zs)
