-- n numbers in order, k times over: a radix sort that takes two bits at a time, those of a lower rank first, and is stable.
def step [n] (xs: [n]u32) (bit: i32) : [n]u32 =
  let digits = map (\x -> i32.u32 ((x >> u32.i32 bit) & 3)) xs
  let flag (d: i32) (k: i32) = i32.bool (d == k)
  let flags = map (\d -> (flag d 0, flag d 1, flag d 2, flag d 3)) digits
  let add (a, b, c, d) (e, f, g, h) = (a + e, b + f, c + g, d + h : i32)
  let ranks = scan add (0, 0, 0, 0) flags
  let (zeros, ones, twos, _) = if n == 0 then (0, 0, 0, 0) else ranks[n - 1]
  let place d (a, b, c, e) =
    i64.i32 (if d == 0 then a - 1
             else if d == 1 then zeros + b - 1
             else if d == 2 then zeros + ones + c - 1
             else zeros + ones + twos + e - 1)
  in scatter (replicate n 0) (map2 place digits ranks) xs

def sort [n] (xs: [n]u32) : [n]u32 = loop xs for i < 16 do step xs (2 * i)

-- ==
-- entry: sorted
-- input { [3u32, 0u32, 4294967295u32, 77u32, 3u32, 65536u32] } output { [0u32, 3u32, 3u32, 77u32, 65536u32, 4294967295u32] }
-- input { empty([0]u32) } output { empty([0]u32) }
entry sorted (xs: []u32) = sort xs

-- ==
-- input { 5000i64 2i64 } auto output
entry main (n: i64) (k: i64) : u32 =
  let xs = map (\i -> u32.i64 i * 2654435761) (iota n)
  in loop c = 0 for i < k do
       let ys = sort (map (^ (c + u32.i64 i)) xs)
       in ys[n / 2]
