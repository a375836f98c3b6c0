-- Reductions that choose among points and keep their places, which lanes of 32 bits hold; that of none may be any number.

def less (i: i64, x: f32) (j: i64, y: f32) : (i64, f32) =
  if x < y || (x == y && i < j) then (i, x) else (j, y)

def number (i: i64) : f32 = f32.i64 ((i * 7919) % 1013)

-- ==
-- entry: least
-- input { 0i64 5i64 } auto output
-- input { 0i64 -9223372036854775808i64 } auto output
-- input { 1i64 -1i64 } auto output
-- input { 31i64 -1i64 } auto output
-- input { 64i64 -1i64 } auto output
-- input { 96i64 -1i64 } auto output
-- input { 128i64 -1i64 } auto output
-- input { 160i64 -1i64 } auto output
-- input { 192i64 -1i64 } auto output
-- input { 224i64 -1i64 } auto output
-- input { 288i64 -1i64 } auto output
-- input { 323i64 -1i64 } auto output
-- input { 5000i64 -1i64 } auto output
-- input { 5000i64 9223372036854775807i64 } auto output
-- input { 100003i64 100003i64 } auto output
entry least (n: i64) (none: i64) : (i64, f32) =
  reduce_comm less (none, f32.inf) (map (\i -> (i, number i)) (iota n))

-- The nearest again and again, of so many points that threads share them out.
-- ==
-- entry: nearest
-- input { 7i64 300001i64 } auto output
-- input { 3i64 1100007i64 } auto output
entry nearest (k: i64) (n: i64) : ([k]i64, [k]f32) =
  let (places, found, _) =
    loop (places, found, xs) = (replicate k 0, replicate k 0, map number (iota n)) for i < k do
      let (j, x) = reduce_comm less (n, f32.inf) (zip (iota n) xs)
      in (places with [i] = j, found with [i] = x, xs with [j] = f32.inf)
  in (places, found)

-- Nothing is less than what there is without points, so that only the place tells.
-- ==
-- entry: nothing
-- input { 77i64 5i64 } auto output
-- input { 5000i64 5000i64 } auto output
-- input { 5000i64 -9000000000i64 } auto output
-- input { 5000i64 9000000000i64 } auto output
-- input { 5000i64 2147483647i64 } auto output
-- input { 5000i64 -2147483648i64 } auto output
entry nothing (n: i64) (none: i64) : (i64, f32) =
  reduce_comm less (none, f32.inf) (map (\i -> (i, f32.inf)) (iota n))

-- The last of the greatest in each row, and two places at once.
-- ==
-- entry: rows
-- input { 3i64 40i64 } auto output
-- input { 70i64 133i64 } auto output
entry rows (n: i64) (m: i64) : ([n]i64, [n]i32) =
  let greater (i: i64, x: i32) (j: i64, y: i32) = if x > y || (x == y && i > j) then (i, x) else (j, y)
  in unzip (tabulate n (\h -> reduce_comm greater (-1, i32.lowest) (map (\i -> (i, i32.i64 (((h + 3) * i * 31) % 57))) (iota m))))

-- ==
-- entry: both
-- input { 10000i64 } auto output
entry both (n: i64) : (i64, i64, f32, f32) =
  let op (i: i64, j: i64, x: f32, y: f32) (k: i64, l: i64, z: f32, w: f32) =
    let a = x < z || (x == z && i < k)
    let b = y > w || (y == w && j < l)
    in (if a then i else k, if b then j else l, if a then x else z, if b then y else w)
  in reduce_comm op (n, n, f32.inf, -f32.inf) (map (\i -> (i, i, number i, number (i + 7))) (iota n))

-- Places that are added are none.
-- ==
-- entry: sums
-- input { 1000i64 } auto output
entry sums (n: i64) : (i64, i32) =
  reduce_comm (\(i, x) (j, y) -> (i + j, i32.max x y)) (0, 0) (map (\i -> (i, i32.i64 ((i * 31) % 57))) (iota n))
