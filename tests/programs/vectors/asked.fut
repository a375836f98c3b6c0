-- Bytes that maps read and that are asked for before they are needed, also behind the end of what there is.

def byte (i: i64) : u8 = u8.i64 ((i * 7919) % 251)

-- ==
-- entry: wider
-- input { 0i64 } auto output
-- input { 63i64 } auto output
-- input { 64i64 } auto output
-- input { 4096i64 } auto output
-- input { 100003i64 } auto output
entry wider (n: i64) : ([n]i32, [n]u8) =
  let xs = #[opaque] map byte (iota n)
  let ys = #[opaque] map (\i -> byte (3 * i)) (iota n)
  in unzip (map2 (\x y -> (i32.u8 x * 3 - i32.u8 y, x ^ y)) xs ys)

-- Neighbours, in rows.
-- ==
-- entry: steps
-- input { 5i64 1i64 } auto output
-- input { 5i64 200i64 } auto output
-- input { 9i64 20001i64 } auto output
entry steps (n: i64) (m: i64) : [m]i32 =
  let costs = #[opaque] tabulate_2d n m (\i j -> byte (i * 31 + j))
  in loop best = map i32.u8 costs[0] for i in 1..<n do
       tabulate m (\j ->
         i32.u8 costs[i, j] + i32.min best[j] (i32.min best[i64.max (j - 1) 0] best[i64.min (j + 1) (m - 1)]))

-- Beside constants that are far.
-- ==
-- entry: far
-- input { 70000i64 } auto output
entry far (n: i64) : [n]u32 =
  map (\x -> (u32.u8 x + 0x3e3779b9) * 0x5bd1e995) (#[opaque] map byte (iota n))
