-- Programs on sequences after Streaming Irregular Arrays (section 7): a search for the word with an MD5 digest, a sparse matrix times a
-- vector, an audio pipeline, PageRank over a list of links; and Sobol numbers chunk by chunk (thesis, 2.5.2).

-- MD5 (RFC 1321), of words of any lengths.
def sines : [64]u32 = tabulate 64 (\i -> u32.f64 (f64.floor (f64.abs (f64.sin (f64.i64 (i + 1))) * 4294967296)))
def shifts : [16]u32 = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

def md5 [n] (word: [n]u8) : [4]u32 =
  let blocks = (n + 8) / 64 + 1
  let byte (i: i64) : u32 =
    if i < n then u32.u8 word[i]
    else if i == n then 0x80
    else if i >= blocks * 64 - 8 then u32.i64 ((n * 8) >> (8 * (i - (blocks * 64 - 8)))) & 0xff
    else 0
  let at (i: i64) = byte i | byte (i + 1) << 8 | byte (i + 2) << 16 | byte (i + 3) << 24
  let (a, b, c, d) =
    loop (a0, b0, c0, d0) = (0x67452301u32, 0xefcdab89u32, 0x98badcfeu32, 0x10325476u32) for k < blocks do
      let (a, b, c, d) =
        loop (a, b, c, d) = (a0, b0, c0, d0) for i < 64i64 do
          let (f, g) =
            if i < 16 then ((b & c) | (!b & d), i)
            else if i < 32 then ((d & b) | (!d & c), (5 * i + 1) % 16)
            else if i < 48 then (b ^ c ^ d, (3 * i + 5) % 16)
            else (c ^ (b | !d), (7 * i) % 16)
          let x = a + f + sines[i] + at (k * 64 + g * 4)
          let s = shifts[i / 16 * 4 + i % 4]
          in (d, b + (x << s | x >> (32 - s)), b, c)
      in (a0 + a, b0 + b, c0 + c, d0 + d)
  in [a, b, c, d]

-- ==
-- entry: digest
-- input { empty([0]u8) } output { [3649838548u32, 78774415u32, 2550759657u32, 2118318316u32] }
-- input { [97u8, 98u8, 99u8] } output { [2555380112u32, 2958021180u32, 2101319382u32, 1920983336u32] }
entry digest (word: []u8) : [4]u32 = md5 word

-- The number of the first word with a digest, or -1.
-- ==
-- entry: find
-- input { [2555380112u32, 2958021180u32, 2101319382u32, 1920983336u32] [[97u8], [], [97u8, 98u8], [97u8, 98u8, 99u8], [97u8, 98u8, 99u8]] } output { 3i64 }
-- input { [0u32, 0u32, 0u32, 0u32] [[97u8], [98u8]] } output { -1i64 }
entry find (wanted: [4]u32) (words: seq ([..]u8)) : i64 =
  let found = seq.map (\word -> and (map2 (==) (md5 word) wanted)) words
  let numbers = seq.zip_with (\i is -> if is then i else i64.highest) (seq.produce i64.highest id) found
  let first = seq.reduce i64.min i64.highest numbers
  in if first == i64.highest then -1 else first

-- Of words that are made as they are needed: all of three letters.
-- ==
-- entry: guess
-- input { [2555380112u32, 2958021180u32, 2101319382u32, 1920983336u32] } output { [97u8, 98u8, 99u8] }
entry guess (wanted: [4]u32) : [3]u8 =
  let word (i: i64) = [97 + u8.i64 (i / 676), 97 + u8.i64 (i / 26 % 26), 97 + u8.i64 (i % 26)]
  let words = seq.produce 17576 (\i -> if and (map2 (==) (md5 (word i)) wanted) then i else i64.highest)
  in word (seq.reduce i64.min i64.highest words)

-- A sparse matrix, row by row: the columns and values that are not zero.
-- ==
-- entry: spmv
-- input { [10f64, 100f64, 1000f64] [[0i64, 2i64], [], [1i64], [0i64, 1i64, 2i64]] [[1f64, 2f64], [], [3f64], [1f64, 1f64, 1f64]] } output { [2010f64, 0f64, 300f64, 1110f64] }
-- input { [10f64] [[0i64, 2i64]] [[1f64, 2f64]] } error: Index \[2\] out of bounds
entry spmv [n] (x: [n]f64) (columns: seq ([..]i64)) (values: seq ([..]f64)) : seq f64 =
  seq.zip_with (\js as -> f64.sum (map2 (\j a -> a * x[j]) js as)) columns values

-- Audio: windows of different lengths over a signal, weighed, and how loud each is.
-- ==
-- entry: loudness
-- input { [0i64, 2i64, 3i64] [2i64, 4i64, 1i64] [1f32, 1f32, 2f32, 2f32, 2f32, 2f32] } output { [0.5f32, 2f32, 4f32] }
entry loudness [n] (from: []i64) (lengths: []i64) (signal: [n]f32) : []f32 =
  let window [k] (xs: [k]f32) = map2 (\i x -> if i * 2 < k then x else 0) (iota k) xs
  let energy [k] (xs: [k]f32) = f32.sum (map (\x -> x * x) xs) / f32.i64 k
  let windows = seq.zip_with (\i l -> signal[i:i + l]) (seq.from_array from) (seq.from_array lengths)
  in seq.to_array (seq.map energy (seq.map window windows))

-- PageRank: each round goes through all links, which are never all there.
-- ==
-- entry: ranks
-- input { 3i64 2i32 } output { [0.45375f64, 0.19166666666666665f64, 0.35458333333333325f64] }
entry ranks (n: i64) (rounds: i32) : [n]f64 =
  -- Node i links to (i + 1) % n, and node 0 also to 2.
  let edges = seq.produce (n + 1) (\i -> if i == n then (0, 2) else (i, (i + 1) % n))
  let degrees = seq.fold_chunks (\ds k (es: [k](i64, i64)) -> reduce_by_index (copy ds) (+) 0 (map (.0) es) (rep 1)) (replicate n 0i64) edges
  in loop ranks = replicate n (1 / f64.i64 n) for _i < rounds do
       let sums =
         seq.fold_chunks (\rs k (es: [k](i64, i64)) ->
                            reduce_by_index (copy rs) (+) 0 (map (.1) es) (map (\(i, _) -> ranks[i] / f64.i64 degrees[i]) es))
                         (replicate n 0) edges
       in map (\r -> 0.15 / f64.i64 n + 0.85 * r) sums

-- Sobol numbers: the first of a chunk from its number, the others each from the one before.
def direction (i: i64) : u32 = 1 << u32.i64 (31 - i)
def independent (i: i64) : u32 =
  let gray = i ^ (i >> 1)
  in loop x = 0 for b < 31i64 do if (gray >> b) & 1 == 1 then x ^ direction b else x

-- ==
-- entry: sobol
-- input { 5i64 } output { [0u32, 2147483648u32, 3221225472u32, 1073741824u32, 1610612736u32] }
entry sobol (n: i64) : [n]u32 =
  stream_map (\k (is: [k]i64) ->
                if k == 0 then replicate k 0
                else (loop (xs, x) = (replicate k 0, independent is[0]) for j < k do
                        let next = x ^ direction (i64.i32 (i64.ctz (is[j] + 1)))
                        in (xs with [j] = x, next)).0)
             (iota n)

-- ==
-- entry: sobol_agrees
-- input { 0i64 } output { true }
-- input { 1000i64 } output { true }
-- input { 20000i64 } output { true }
entry sobol_agrees (n: i64) : bool = and (map2 (==) (sobol n) (map independent (iota n)))

-- ==
-- entry: average
-- input { 1000i64 } output { 499i64 }
entry average (n: i64) : i64 = stream_red (+) (\k (is: [k]i64) -> loop a = 0 for i in is do a + i) (iota n) / i64.max 1 n

-- Running sums: each chunk begins with what the one before has left.
-- ==
-- entry: running
-- input { 0i64 } output { 0i64 true }
-- input { 10i64 } output { 45i64 true }
-- input { 100i64 } output { 4950i64 true }
-- input { 300001i64 } output { 45000150000i64 true }
entry running (n: i64) : (i64, bool) =
  let f (k: i64) (a: i64) (xs: [k]i64) : (i64, [k]i64) =
        let ys = map (+ a) (scan (+) 0 xs)
        in (if k == 0 then a else ys[k - 1], ys)
  let (last, ys) = stream_seq f 0 (iota n)
  in (last, and (map2 (==) ys (scan (+) 0 (iota n))))

-- ==
-- entry: averages
-- input { [[1i64, 2i64, 3i64], [4i64, 5i64, 6i64]] } output { [6i64, 15i64] }
entry averages [n] [m] (xss: [n][m]i64) : [n]i64 =
  map (stream_red (+) (\k (xs: [k]i64) -> loop a = 0 for x in xs do a + x)) xss
