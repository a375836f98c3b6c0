-- Irregular arrays of several depths, as components, moved, compared, and taken as regular ones.

-- Rows of rows.
-- ==
-- entry: nested
-- input { [2i64,0i64,3i64] } output { [0i64, 0i64, 1i64] }
entry nested (ns: []i64) : []i64 =
  let xsss = map (\n -> map iota (iota n)) ns
  in map (\xss -> reduce (+) 0 (map (\xs -> reduce (+) 0 xs) xss)) xsss

-- ==
-- entry: nested_lengths
-- input { [2i64,0i64,3i64] } output { [0i64, 1i64, 0i64, 1i64, 2i64] [0i64, 0i64, 0i64, 1i64] }
entry nested_lengths (ns: []i64) : ([]i64, []i64) =
  let xsss = map (\n -> map iota (iota n)) ns
  in (lengths (flatten xsss), flatten (flatten xsss))

-- Two irregular results at once, and one that is not.
-- ==
-- entry: several
-- input { [2i64,0i64,1i64] } output { [0i64,1i64,0i64] [7i32,7i32,7i32] [2i64,0i64,1i64] [4i64,0i64,2i64] }
entry several [n] (ns: [n]i64) : ([]i64, []i32, [n]i64, [n]i64) =
  let (a, b, c) = unzip3 (map (\n -> (iota n, replicate (n / 2 * 2 + n % 2) 7i32, n * 2)) ns)
  in (flatten a, flatten b, lengths a, c)

-- Rows inside of fixed dimensions.
-- ==
-- entry: fixed
-- input { [2i64,0i64,1i64] } output { [0i64,1i64,0i64,1i64,2i64,0i64,0i64,0i64,1i64] [[2i64,3i64],[0i64,1i64],[1i64,2i64]] }
entry fixed [n] (ns: [n]i64) : ([]i64, [n][2]i64) =
  let xsss = map (\n -> [iota n, iota (n + 1)]) ns
  in (flatten (flatten xsss), map (map length) xsss)

-- Filter, reverse, slices, gather, concatenation.
-- ==
-- entry: moved
-- input { [2i64,0i64,1i64] } output { [2i64,1i64] [1i64,0i64,2i64] [0i64,1i64] [1i64,1i64,2i64] [2i64,0i64,1i64,3i64] }
entry moved (ns: []i64) : ([]i64, []i64, []i64, []i64, []i64) =
  let xss = map iota ns
  in (lengths (filter (\r -> length r > 0) xss),
      lengths (reverse xss),
      lengths (xss[1:]),
      lengths (map (\i -> xss[i]) [2,2,0]),
      lengths (xss ++ [iota 3]))

-- ==
-- entry: same
-- input { [2i64,0i64,1i64] [2i64,0i64,1i64] } output { true }
-- input { [2i64,0i64,1i64] [0i64,2i64,1i64] } output { false }
entry same (ns: []i64) (ms: []i64) : bool = map iota ns == (map iota ms)

-- ==
-- entry: regular
-- input { [2i64,2i64,2i64] } output { [[0i64,1i64],[0i64,1i64],[0i64,1i64]] }
-- input { [2i64,2i64,1i64] } error: Rows have lengths from 1 to 2
-- input { empty([0]i64) } output { empty([0][2]i64) }
entry regular [n] (ns: [n]i64) : [n][2]i64 = map iota ns :> [n][2]i64

-- ==
-- entry: zipped
-- input { [2i64,0i64,1i64] [2i64,0i64,1i64] } output { [0i64,2i64,0i64] }
-- input { [2i64,0i64,1i64] [2i64,1i64,1i64] } error: differ in shape
entry zipped (ns: []i64) (ms: []i64) : []i64 =
  flatten (map2 (map2 (+)) (map iota ns) (map iota ms))

-- ==
-- entry: records
-- input { [2i64,0i64,1i64] } output { [2i64,0i64,1i64] [0f32,1f32,0f32] }
entry records (ns: []i64) : ([]i64, []f32) =
  let rs = map (\n -> {id = n, row = map f32.i64 (iota n)}) ns
  in (map (.id) rs, flatten (map (.row) rs))

