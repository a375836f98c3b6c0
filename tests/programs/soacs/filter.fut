-- Filters of the host, short and long: what is kept goes to its place at once, and the number of elements is right where there are
-- none. Some keep several values, values that are computed, or what other arrays say.
-- ==
-- entry: several
-- input { 0i64 } output { 0i64 0i64 0i64 7i64 8i64 0i64 }
-- input { 1i64 } output { 1i64 0i64 1i64 0i64 8i64 1i64 }
-- input { 33i64 } output { 7i64 14748i64 17i64 408i64 489i64 1i64 }
-- input { 5000i64 } output { 999i64 373253424i64 2500i64 162i64 81i64 50i64 }
-- input { 200001i64 } output { 40000i64 597984156924i64 100001i64 0i64 81i64 2001i64 }
entry several (n: i64) =
  let xs = map (\i -> (i * 7919) % 1000) (iota n)
  let (a, b) = unzip (filter (\(x, i) -> x < 300 && i % 3 != 1) (zip xs (indices xs)))
  let (c, d) = partition (\x -> x % 2 == 0) xs
  in (length a, i64.sum (map2 (*) a b), length c, last ([7] ++ c), last ([8] ++ d), length (filter id (map (< 10) xs)))

-- ==
-- entry: chosen
-- input { [3i64, 0i64, 2i64] } output { [3i64, 2i64] }
-- input { [0i64, 7i64, 2i64] } error: out of bounds
-- input { empty([0]i64) } output { empty([0]i64) }
entry chosen (is: []i64) : []i64 = let xs = [5i64, 4, 6, 7] in filter (\i -> xs[i] >= 6) is

-- Scans of whole numbers and of floats, whose sums are exact; long ones in pieces.
-- ==
-- entry: sums
-- input { 0i64 } output { 0i64 0.0f64 0i64 }
-- input { 1i64 } output { 0i64 0.0f64 1i64 }
-- input { 100i64 } output { 2515350i64 2515350.0f64 812i64 }
-- input { 70001i64 } output { 1223829810000i64 1223829810000.0f64 561343i64 }
entry sums (n: i64) =
  let xs = map (\i -> (i * 7919) % 1000) (iota n)
  let s = scan (+) 0 xs
  let f = scan (+) 0 (map f64.i64 xs)
  let m = scan (\(a, b) (c, d) -> (a * c, b * c + d)) (1u32, 0u32) (map (\x -> (u32.i64 x * 2 + 1, u32.i64 x)) xs)
  in (i64.sum s, f64.sum f, i64.sum (map (\x -> i64.u32 (x.0 % 7 + x.1 % 11)) m))

-- Numbers in memory, of 32 and of 64 bits: what is kept of neighbours goes side by side at once, of one array or of two.
-- ==
-- entry: numbers
-- input { empty([0]f32) empty([0]i64) } auto output
-- random input { [1]f32 [1]i64 } auto output
-- random input { [16]f32 [16]i64 } auto output
-- random input { [17]f32 [17]i64 } auto output
-- random input { [511]f32 [511]i64 } auto output
-- random input { [512]f32 [512]i64 } auto output
-- random input { [513]f32 [513]i64 } auto output
-- random input { [2000]f32 [2000]i64 } auto output
entry numbers [n] (xs: [n]f32) (ys: [n]i64) =
  let (both, others) = unzip (filter (\(x, y) -> x < 0.6 && y > 0) (zip xs ys))
  in (filter (> 0.5) xs, filter (< 0) ys, both, others, filter (>= 0) xs, length (filter (> 2) xs))

-- Long ones, in pieces, of which none, all, and some are kept.
-- ==
-- entry: long
-- random input { [200000]f32 [200000]f64 } auto output
-- random input { [70001]f32 [70001]f64 } auto output
entry long [n] (xs: [n]f32) (ys: [n]f64) =
  let sum zs = u64.sum (map2 (\z i -> u64.u32 (f32.to_bits z) * u64.i64 (i + 1)) zs (indices zs))
  let whole zs = u64.sum (map2 (\z i -> f64.to_bits z * u64.i64 (i + 1)) zs (indices zs))
  in (sum (filter (> 0.9) xs), sum (filter (> -1) xs), sum (filter (> 1) xs), whole (filter (< 0.4) ys), whole (filter (>= 0) ys))

-- Long ones of parts of arrays, which may begin anywhere, and of elements of one, two and eight bytes, alone and together.
-- ==
-- entry: parts
-- random input { 0i64 [90001]u8 [90001]i16 [90001]i64 } auto output
-- random input { 1i64 [90001]u8 [90001]i16 [90001]i64 } auto output
-- random input { 2i64 [90001]u8 [90001]i16 [90001]i64 } auto output
-- random input { 3i64 [50001]u8 [50001]i16 [50001]i64 } auto output
entry parts [n] (from: i64) (xs: [n]u8) (ys: [n]i16) (zs: [n]i64) =
  let (xs, ys, zs) = (drop from xs, drop from ys, drop from zs)
  let sum as = i64.sum (map2 (*) as (indices as))
  let (a, b) = unzip (filter (\(x, z) -> z > 0 || x == 7) (zip xs zs))
  let (c, d, e) = unzip3 (filter (\(_, y, z) -> y % 3 == 0 && z % 2 == 1) (zip3 xs ys zs))
  in ( sum (map i64.u8 (filter (> 100) xs)), sum (map i64.i16 (filter (< 0) ys)), sum (filter (> 0) zs)
     , sum (map i64.u8 a), sum b, sum (map i64.u8 c), sum (map i64.i16 d), sum e
     , length (filter id (map (> 200) xs)) )
