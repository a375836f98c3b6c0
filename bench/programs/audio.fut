-- How loud windows of different lengths over a signal are, all at once and as a sequence (Streaming Irregular Arrays, section 7.2).
import "../../tests/programs/papers/streams"
import "random"

-- ==
-- entry: generate
-- input { 2i64 } auto output
entry generate (n: i64) : ([n]i64, [n]i64, []f32) =
  let ls = map (\i -> 64 + i64.u32 (number 1 i % 4032)) (iota n)
  let ends = scan (+) 0 (map (/ 2) ls)
  let from = map2 (\e l -> e - l / 2) ends ls
  in (from, ls, map (\i -> unit 2 i - 0.5) (iota (if n == 0 then 0 else ends[n - 1] + 4096)))

-- ==
-- entry: whole streamed
-- input { [0i64, 2i64, 3i64] [2i64, 4i64, 1i64] [1f32, 1f32, 2f32, 2f32, 2f32, 2f32] } output { [0.5f32, 2f32, 4f32] }
-- compiled script input { generate 10000i64 }
entry whole [k] [n] (from: [k]i64) (ls: [k]i64) (signal: [n]f32) : []f32 =
  let window [k] (xs: [k]f32) = map2 (\i x -> if i * 2 < k then x else 0) (iota k) xs
  let energy [k] (xs: [k]f32) = f32.sum (map (\x -> x * x) xs) / f32.i64 k
  in map2 (\i l -> energy (window signal[i:i + l])) from ls

entry streamed [k] [n] (from: [k]i64) (ls: [k]i64) (signal: [n]f32) : []f32 = loudness from ls signal
