-- What is traced has the value that it has without. What is shown is tested with the command.

def root (n: i64) : i64 = loop r = #[trace] 0 while #[trace(go)] ((r + 1) * (r + 1) <= n) do r + 1

-- ==
-- entry: scalars
-- input { 17i64 } output { 4i64 true }
entry scalars (n: i64) = #[trace(result)] (root n, n > 3)

-- Arrays that are traced may be consumed afterwards, and views of arrays may be traced.
-- ==
-- entry: arrays
-- input { [1i32, 2i32, 3i32] } output { [9i32, 3i32, 4i32] [4i32, 3i32, 9i32] }
entry arrays [n] (xs: *[n]i32) =
  let ys = #[trace(ys)] map (+ 1) xs
  let ys[0] = #[trace(reversed)] (reverse ys)[0] + 5
  let pairs = #[trace(pairs)] zip ys (reverse (copy ys))
  let transposed = #[trace(transposed)] transpose [ys, ys]
  in (map (.0) pairs, #[trace(row)] (reverse transposed)[:, 0])

-- Also inside of parallel operations, and where nothing else is done.
-- ==
-- entry: parallel
-- input { [1i32, 2i32] } output { [1i32, 2i32] 6i32 }
entry parallel (xs: []i32) =
  (map (\x -> #[trace(x)] x) xs, reduce (+) 0 (map (\x -> #[trace(twice)] (2 * x)) xs))

type colour = #grey u8 | #rgb u8 u8 u8

-- ==
-- entry: sums
-- input { 7u8 } output { 7u8 }
entry sums (x: u8) : u8 =
  match #[trace(colour)] (if x > 3 then #grey x else #rgb x x x : colour)
  case #grey level -> level
  case #rgb r _ _ -> (trace {red = r}).red
