-- Properties: entry points that hold for all arguments, which the test runner makes.
-- ==
-- property: reverse_twice halves even_total
-- property: palette_wraps
-- property: weights_sorted shifted

-- Random arguments, also of tuples and records; all arrays have the same size.
#[prop]
entry reverse_twice (xs: []i32) : bool =
  and (map2 (==) (reverse (reverse xs)) xs)

#[prop(size(7))]
entry halves (arg: ([]u8, {rows: [][]i16, scale: f32})) : bool =
  let (bytes, r) = arg
  in length bytes == 7
     && length r.rows == length bytes
     && all (\row -> length row == 7) r.rows
     && r.scale >= -1 && r.scale < 1

-- A generator makes only what the property is about.
entry evens (size: i64) (seed: u64) : []i64 =
  tabulate size (\i -> 2 * (i + i64.u64 (seed % 1000)))

entry drop_one (xs: []i64) (random: u64) : []i64 =
  if null xs then [] else drop (1 + i64.u64 (random % 2)) (xs ++ [0])

#[prop(gen(evens), shrink(drop_one), size(20))]
entry even_total (xs: []i64) : bool = i64.sum xs % 2 == 0

-- The generator of a named type is found by its name.
type hue = #red | #green i32 | #blue [2]i32

entry gen_hue (_: i64) (seed: u64) : hue =
  if seed % 3 == 0 then #red
  else if seed % 3 == 1 then #green (i32.u64 (seed % 100))
  else #blue [1, 2]

#[prop]
entry palette_wraps (h: hue) : bool =
  match h
  case #red -> true
  case #green g -> 0 <= g && g < 100
  case #blue b -> b[0] + 1 == b[1]

-- What a generator gives may have a name where the property has none.
type weights [n] = {keys: [n]i64, values: [n]f64}

entry sorted (size: i64) (_seed: u64) : weights [] =
  {keys = iota size, values = map f64.i64 (iota size)}

#[prop(gen(sorted))]
entry weights_sorted (w: {keys: []i64, values: []f64}) : bool =
  let n = length w.keys
  in and (map2 (\k v -> f64.i64 k == v) (w.keys :> [n]i64) (w.values :> [n]f64))

-- Cases beside properties.
-- ==
-- entry: shifted
-- input { 3i8 } output { true }
-- input { 127i8 } output { true }

#[prop]
entry shifted (x: i8) : bool = (x + 1) - 1 == x
