-- Local functions without annotations are polymorphic in what nothing outside of them decides.

-- ==
-- entry: several
-- input { 5 true } output { 5 true 10 [5, 5] [true, true] 3 }
-- input { -1 false } output { -1 false -2 [-1, -1] [false, false] -1 }
entry several (x: i32) (b: bool) : (i32, bool, i32, [2]i32, [2]bool, i32) =
  let first x y = let _ = y in x
  let twice x = [x, x]
  let apply f x = f x
  let id x = x
  let k = 3
  let pair x = (x, k)
  let (p, q) = pair b
  in (first x b, first b x, id (apply (apply (i32.+) x) x), twice x, twice b, if p then q else (pair x).0)

-- What the function shares with the code around it has one type: `xs` is known later.
-- ==
-- entry: shared
-- input { [1i64, 2i64] } output { [1i64, 2i64] [true, true] }
entry shared [n] (xs: [n]i64) : ([n]i64, [n]bool) =
  let choose c y = if c then xs else map (const y) xs
  let beside x y = map (\z -> if z == 0 then (x, y) else (x, y)) xs
  in (choose true 7, map (.1) (beside 3u8 true))

-- Arrays of any rank and element, one dimension of which is gone through.
-- ==
-- entry: rows
-- input { [[1, 2], [3, 4]] } output { [2, 1, 4, 3] [[3, 4], [1, 2]] }
entry rows [n][m] (xss: [n][m]i32) : (*[n * m]i32, [n][m]i32) =
  let back xs = reverse xs
  in (flatten (map back xss) |> copy, back xss)

-- Records have their types.
-- ==
-- entry: field
-- input { 4 } output { 4 8 }
entry field (x: i32) : (i32, i32) =
  let get (r: {a: i32, b: i32}) = r.a
  let double (r: {a: i32, b: i32}) = r with a = r.a * 2
  in (get {a = x, b = 0}, get (double {a = x, b = 1}))

-- Comparisons decide nothing for other types.
-- ==
-- entry: compared
-- input { 4 } output { true false }
entry compared (x: i32) : (bool, bool) =
  let same a b = a == b
  in (same x x, same x 3)

-- In parallel code, with an array of the point.
-- ==
-- entry: nested
-- input { [1, 2, 3] } output { [3i64, 6i64, 9i64] [3, 6, 9] }
entry nested [n] (xs: [n]i32) : ([n]i64, [n]i32) =
  unzip (map (\x ->
                let three f = [f 1, f 2, f x]
                let last as = as[2]
                in (last (three i64.i32) * 3, i32.sum (three (* x)) + last (three (const 0)) - x * x)) xs)
