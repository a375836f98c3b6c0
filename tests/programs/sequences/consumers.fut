-- Sequences: what makes them, what goes through them. Results do not depend on chunks.

-- ==
-- entry: sum
-- input { 0i64 } output { 0i64 }
-- input { 1i64 } output { 0i64 }
-- input { 1000i64 } output { 665667000i64 }
-- input { -3i64 } output { 0i64 }
entry sum (n: i64) : i64 = seq.fold (+) 0 (seq.map (\x -> x * 2) (seq.produce n (\i -> i * i)))

-- The order of a fold is that of the elements.
-- ==
-- entry: digits
-- input { 9i64 } output { 12345678i64 }
entry digits (n: i64) : i64 = seq.fold (\a x -> a * 10 + x) 0 (seq.produce n id)

-- ==
-- entry: irregular_elements
-- input { 20i64 } output { 160i64 70i64 2470i64 }
entry irregular_elements (n: i64) : (i64, i64, i64) =
  ( seq.fold (\a xs -> a + i64.sum xs) 0 (seq.map (\x -> map (+ x) (iota x)) (seq.produce n (% 5)))
  , seq.fold (\a xs -> a + length xs) 0 (seq.produce n (\i -> filter (\x -> x % 3 == 0) (iota i)))
  , seq.fold (\a (xs, y) -> a + y * length xs) 0 (seq.produce n (\i -> (iota i, i))))

-- ==
-- entry: rows_of_rows
-- input { 5i64 } output { 5i64 }
entry rows_of_rows (n: i64) : i64 =
  seq.fold (\a xss -> a + i64.sum (map i64.sum xss)) 0 (seq.produce n (\i -> map iota (iota i)))

-- ==
-- entry: elements
-- input { 0i64 } output { empty([0]i64) }
-- input { 7i64 } output { [0i64, 0i64, 1i64, 0i64, 1i64, 2i64, 0i64, 0i64, 1i64] }
entry elements (n: i64) : []i64 = seq.elements (seq.produce n (\i -> iota (i % 4)))

-- ==
-- entry: pairs
-- input { 3i64 } output { [0i64, 1i64, 2i64] [0f32, 0.5f32, 1f32] }
entry pairs (n: i64) : ([]i64, []f32) = unzip (seq.to_array (seq.produce n (\i -> (i, f32.i64 i / 2))))

-- ==
-- entry: matrix
-- input { 3i64 } output { [[0i64, 0i64], [1i64, 1i64], [2i64, 4i64]] }
entry matrix (n: i64) : [][2]i64 = seq.to_array (seq.produce n (\i -> [i, i * i]))

-- ==
-- entry: rows
-- input { 0i64 } output { empty([0][0]i64) }
-- input { 5i64 } output { [[], [0i64], [0i64, 1i64], [0i64, 1i64, 2i64], []] }
entry rows (n: i64) : [][..]i64 = seq.rows (seq.produce n (\i -> iota (i % 4)))

-- Elements with rows of any lengths.
-- ==
-- entry: rows_in_rows
-- input { 3i64 } output { [[], [0i64], [0i64, 1i64]] [[], [], [0i64]] }
entry rows_in_rows (n: i64) : ([][..]i64, [][..]i64) =
  (seq.to_array (seq.produce n iota), seq.elements (seq.produce n (\i -> map iota (iota i))))

-- ==
-- entry: tabulate
-- input { 0i64 } output { empty([0][0]i64) }
-- input { 4i64 } output { [[0i64, 1i64], [0i64, 1i64], [0i64, 1i64], [0i64, 1i64]] }
entry tabulate (n: i64) : [][]i64 = seq.tabulate (seq.produce n (\i -> iota (2 + i)))

-- ==
-- entry: reduce
-- input { 0i64 } output { 0i64 0i64 }
-- input { 255i64 } output { 32385i64 254i64 }
-- input { 256i64 } output { 32640i64 255i64 }
-- input { 3000i64 } output { 4498500i64 2999i64 }
entry reduce (n: i64) : (i64, i64) =
  let s = seq.produce n id
  in (seq.reduce (+) 0 s, seq.reduce i64.max 0 s)

-- Rounding is that of places, too.
-- ==
-- entry: rounded
-- input { 3000i64 } output { true true }
entry rounded (n: i64) : (bool, bool) =
  let f i = 1 / f32.i64 (i + 1)
  let block b = loop a = 0f32 for i in b * 256..<i64.min n (b * 256 + 256) do a + f i
  let blocks = loop a = 0f32 for b < (n + 255) / 256 do a + block b
  in (seq.reduce (+) 0 (seq.produce n f) == blocks,
      seq.fold (+) 0 (seq.produce n f) == (loop a = 0f32 for i < n do a + f i))

-- ==
-- entry: vectors
-- input { 300i64 } output { [44850i64, 8955050i64] }
entry vectors (n: i64) : [2]i64 = seq.reduce (map2 (+)) [0, 0] (seq.produce n (\i -> [i, i * i]))

-- The shorter of two sequences says how long they are together.
-- ==
-- entry: zipped
-- input { 20i64 } output { 19i64 1159i64 190i64 }
entry zipped (n: i64) : (i64, i64, i64) =
  let both = seq.zip (seq.produce n (+ 1)) (seq.map (* 2) (seq.produce (n - 1) id))
  in (seq.length both, seq.fold (\a (x, y) -> a + 3 * x + y + x - x * 2 - y + 41) 0 both, seq.reduce (+) 0 (seq.zip_with (\x _ -> x) (seq.produce n (+ 1)) (seq.produce (n - 1) id)))

-- ==
-- entry: array
-- input { [3, 1, 2] } output { 312 3i64 }
entry array (xs: []i32) : (i32, i64) =
  let s = seq.from_array xs
  in (seq.fold (\a x -> a * 10 + x) 0 s, seq.length s)

-- Where code runs in parallel, there is one chunk.
-- ==
-- entry: inside
-- input { 5i64 } output { [0i64, 0i64, 2i64, 9i64, 24i64] [0f32, 0f32, 2f32, 9f32, 24f32] [0i64, 0i64, 0i64, 1i64, 4i64] }
entry inside (n: i64) : ([n]i64, [n]f32, [n]i64) =
  ( map (\i -> seq.fold (+) 0 (seq.produce i (\j -> i * j))) (iota n)
  , map (\i -> seq.reduce (+) 0 (seq.produce i (\j -> f32.i64 (i * j)))) (iota n)
  , map (\i -> seq.fold (\a xs -> a + i64.sum xs) 0 (seq.produce i iota)) (iota n))

-- ==
-- entry: inside_arrays
-- input { 4i64 } output { [[], [0i64], [0i64, 1i64], [0i64, 1i64, 2i64]] }
entry inside_arrays (n: i64) : [n][..]i64 = map (\i -> seq.to_array (seq.produce i id)) (iota n)

-- A consumer inside of a consumer, and in a loop.
-- ==
-- entry: nested
-- input { 6i64 } output { 35i64 }
entry nested (n: i64) : i64 =
  loop a = 0 for i < n do a + seq.fold (\b j -> b + seq.reduce (+) 0 (seq.produce j (\_ -> 1))) 0 (seq.produce i (+ 1))

-- ==
-- entry: fails
-- input { 4i64 } error: Index \[3\] out of bounds
entry fails (n: i64) : i64 = let xs = iota 3 in seq.fold (+) 0 (seq.produce n (\i -> xs[i]))

-- Elements that are all as many rows of any lengths.
-- ==
-- entry: as_many_rows
-- input { 2i64 } output { [[0i64, 1i64, 2i64], [1i64, 2i64, 0i64]] [0i64, 0i64, 1i64, 0i64, 0i64, 1i64] }
-- input { 0i64 } output { empty([0][3]i64) empty([0]i64) }
entry as_many_rows (n: i64) : ([][3]i64, []i64) =
  let xsss = seq.to_array (seq.produce n (\i -> map (\j -> iota ((i + j) % 3)) (iota 3)))
  in (map (map length) xsss, flatten (flatten xsss))

-- ==
-- entry: the_same_rows
-- input { 2i64 [1i64, 0i64, 2i64] } output { [[0i64, 0i64, 1i64], [0i64, 0i64, 1i64]] 6i64 }
entry the_same_rows (n: i64) (ls: []i64) : ([][]i64, i64) =
  let xss = map iota ls
  let s = seq.map (\_ -> xss) (seq.produce n id)
  in (map (map i64.sum) (seq.to_array s), length (flatten (seq.elements s)))
