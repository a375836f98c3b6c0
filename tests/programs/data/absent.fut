-- Payloads that are not there take no memory, and no check of their sizes.

type option 't = #some t | #none

def rest [n] 't (xs: [n]t) : option ([n - 1]t) = if n == 0 then #none else #some (xs[1:] :> [n - 1]t)

-- ==
-- entry: rest_of
-- input { [4i32, 5, 6] } output { 11i32 }
-- input { [4i32] } output { 0i32 }
-- input { empty([0]i32) } output { -1i32 }
entry rest_of (xs: []i32) = match rest xs case #some ys -> i32.sum ys case #none -> -1

def few (n: i64) : option ([]i64) = if n < 100 then #some (iota n) else #none

-- ==
-- entry: few_of
-- input { 5i64 } output { 10i64 5i64 }
-- input { 4000000000000i64 } output { -1i64 -1i64 }
-- input { -9223372036854775808i64 } error: is invalid
entry few_of (n: i64) =
  let x = few n
  in (match x case #some xs -> i64.sum xs case #none -> -1, match x case #none -> -1 case #some xs -> length xs)

-- Of two payloads of one size the one that is there tells the size.
-- ==
-- entry: either
-- input { 0i64 3i64 } output { 3i64 3i64 }
-- input { 1i64 4i64 } output { 6i64 4i64 }
-- input { 2i64 5i64 } output { 0i64 1i64 }
type either [n] = #left ([n]i64) | #right ([n]i32) | #neither
def made (k: i64) (n: i64) : ?[m].either [m] =
  if k == 0 then #left (iota n) else if k == 1 then #right (map i32.i64 (iota n)) else #neither
def size [m] (x: either [m]) =
  match x case #left xs -> length (zip xs (iota m)) case #right xs -> length (zip xs (iota m)) case #neither -> 1
entry either (k: i64) (n: i64) =
  let x = made k n
  let sum = match x case #left xs -> i64.sum xs case #right xs -> i64.i32 (i32.sum xs) case #neither -> 0
  in (sum, size x)

-- ==
-- entry: nested
-- input { 0i64 [1i32, 2] } output { -1i32 }
-- input { 1i64 [1i32, 2] } output { -2i32 }
-- input { 2i64 [1i32, 2] } output { 2i32 }
-- input { 2i64 empty([0]i32) } output { -2i32 }
entry nested [n] (k: i64) (xs: [n]i32) =
  let x : option (option ([n - 1]i32)) = if k == 0 then #none else if k == 1 then #some #none else #some (rest xs)
  in match x case #some (#some ys) -> i32.sum ys case #some #none -> -2 case #none -> -1

-- ==
-- entry: in_records
-- input { [1i32, 2, 3] } output { 5i32 3i64 }
-- input { empty([0]i32) } output { -1i32 0i64 }
entry in_records [n] (xs: [n]i32) =
  let r = {head = (rest xs, n), all = xs}
  let s = match r.head.0 case #some ys -> i32.sum ys case #none -> -1
  in (s, length r.all)

-- ==
-- entry: in_arrays
-- input { [1i32, 2, 3] } output { [5i32, -1i32, 5i32] 3i64 }
-- input { empty([0]i32) } output { [-1i32, -1i32, -1i32] 0i64 }
entry in_arrays [n] (xs: [n]i32) =
  let rows : [3](option ([n - 1]i32)) = [rest xs, #none, rest xs]
  in (map (\x -> match x case #some ys -> i32.sum ys case #none -> -1) rows, n)

-- ==
-- entry: in_map
-- input { [[1i32, 2], [-3, 4], [5, 6]] } output { [2i32, -1i32, 6i32] [2i32, 0i32, 6i32] }
-- input { empty([0][2]i32) } output { empty([0]i32) empty([0]i32) }
-- input { empty([2][0]i32) } output { [-1i32, -1i32] [0i32, 0i32] }
entry in_map [n][m] (xss: [n][m]i32) =
  let one (xs: [m]i32) : option ([m - 1]i32) = if m > 0 && xs[0] < 0 then #none else rest xs
  let kept = map one xss
  in (map (\xs -> match one xs case #some ys -> i32.sum ys case #none -> -1) xss,
      map (\x -> match x case #some ys -> i32.sum ys case #none -> 0) kept)

-- ==
-- entry: in_loop
-- input { [1i32, 2, 3, 4] 0i64 } output { -1i32 }
-- input { [1i32, 2, 3, 4] 1i64 } output { 9i32 }
-- input { [1i32, 2, 3, 4] 3i64 } output { 9i32 }
-- input { empty([0]i32) 3i64 } output { -1i32 }
entry in_loop [n] (xs: [n]i32) (k: i64) =
  let x = loop x : option ([n - 1]i32) = #none for _i < k do match x case #none -> rest xs case #some ys -> #some (map id ys)
  in match x case #some ys -> i32.sum ys case #none -> -1

-- ==
-- entry: same
-- input { [1i32, 2, 3] [1i32, 2, 3] } output { true false false }
-- input { [1i32, 2, 3] [1i32, 2, 4] } output { false false false }
-- input { empty([0]i32) empty([0]i32) } output { true true true }
entry same [n] (xs: [n]i32) (ys: [n]i32) = (rest xs == rest ys, rest xs == (#none : option ([n - 1]i32)), rest ys == (#none : option ([n - 1]i32)))

-- A function that is not lowered in place.
-- ==
-- entry: called
-- input { [3i32, 4] } output { [4i32, 4i32] 4i32 }
-- input { empty([0]i32) } output { [-1i32, -1i32] -1i32 }
#[noinline]
def apart [n] (xs: [n]i32) (c: bool) : option ([n - 1]i32) = if c then rest xs else #none
entry called [n] (xs: [n]i32) =
  let total (x: option ([n - 1]i32)) = match x case #some ys -> i32.sum ys case #none -> -1
  in (map (\i -> total (apart xs (i >= 0))) [0i64, 1], total (apart xs true))

-- Elements of an array take what they need when they are there.
-- ==
-- entry: replaced
-- input { 2i64 [7i32, 8] } output { [15i32, 0i32] }
entry replaced [m] (n: i64) (xs: [m]i32) =
  let all : *[n](option ([m]i32)) = replicate n #none
  let all[0] = #some xs
  in map (\x -> match x case #some ys -> i32.sum ys case #none -> 0) all

-- An empty literal has no rows whose size could be negative or large.
-- ==
-- entry: no_rows
-- input { 0i64 } output { 0i64 0i64 0i32 }
-- input { 5i64 } output { 0i64 0i64 0i32 }
-- input { 4611686018427387904i64 } output { 0i64 0i64 0i32 }
entry no_rows (n: i64) =
  let rows : [][n - 1]i32 = []
  let both = concat rows rows
  in (length rows, length both, i32.sum (map i32.sum rows))

-- ==
-- entry: no_rows_chosen
-- input { [[1i32, 2]] true } output { 0i64 }
-- input { [[1i32, 2]] false } output { 1i64 }
-- input { empty([1][0]i32) true } output { 0i64 }
entry no_rows_chosen [n][m] (xss: [n][m]i32) (c: bool) =
  let rows : [][m - 1]i32 = if c then [] else map (\xs -> xs[1:] :> [m - 1]i32) xss
  in length rows

entry given (x: option ([]i32)) : option ([]i32) = match x case #some xs -> #some (map (+ 1) xs) case #none -> #none
