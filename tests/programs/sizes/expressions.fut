-- Size expressions: in abbreviations that are applied to size expressions, in modules, in results of functions that are inferred.

type ends [k] = {first: [2 ** k]i64, last: [2 ** k]i64}

def at (k: i32) (e: ends [i64.i32 k]) (i: i64) : i64 = e.first[i] * 10 + e.last[i]

def ends (k: i32) (x: i64) : ends [i64.i32 k] =
  {first = replicate (2 ** i64.i32 k) x, last = iota (2 ** i64.i32 k)}

-- ==
-- entry: abbreviated
-- input { 2i32 [0i64, 3i64] } output { [20i64, 23i64] }

entry abbreviated (k: i32) (is: []i64) : []i64 =
  let e = ends k (length is)
  in map (at k e) is

def square (x: i64) : i64 = x * x

type grid 't [n] [m] = #none | #some ([square n / 2][m % 3]t)

type^ pass [n] = grid i32 [n + 1] [n] -> [square n]i32

def passed (n: i64) (f: pass [n * 2]) (g: grid i32 [2 * n + 1] [2 * n]) : [square (n * 2)]i32 = f g

-- ==
-- entry: of_sum
-- input { 2i64 } output { 16i64 }
-- input { 0i64 } output { 0i64 }

entry of_sum (n: i64) : i64 =
  let g : grid i32 [n * 2 + 1] [n * 2] = #some (replicate (square (1 + 2 * n) / 2) (replicate (n * 2 % 3) 1))
  let xs =
    passed n (\g -> match g
                    case #none -> replicate (square (2 * n)) 0
                    case #some xss -> replicate (square (n + n)) (i32.sum (flatten xss)))
             g
  in length xs

module type store = {
  val width : i64
  type row = [width / 2 + 1]i32
  type rows [n] = [n][square width]i32
  val zero : row
  val both : row -> row -> row
  val tall : (n: i64) -> rows [n / 2]
  val count [n] : rows [n * 3] -> [n]i32 -> i64
}

module store_of (w: {val width : i64}) : store = {
  def width = w.width
  type row = [width / 2 + 1]i32
  type rows [n] = [n][square width]i32
  def zero : row = replicate (width / 2 + 1) 4
  def both (a: row) (b: row) : row = map2 (+) a b
  def tall (n: i64) : rows [n / 2] = replicate (n / 2) (replicate (square width) 1)
  def count [n] (xss: rows [n * 3]) (_: [n]i32) : i64 = length xss + n
}

module five = store_of {def width = 5i64}

-- ==
-- entry: stored
-- input { 12i64 } output { [8, 8, 8] 8i64 }

entry stored (n: i64) : ([]i32, i64) =
  let xss = five.tall n
  in (copy (five.both five.zero five.zero), five.count (xss :> five.rows [2 * 3]) [0, 0])

-- The size of a result is a call, in which the types of arguments have sizes of their own.
def first_where p xs =
  loop i = 0 while i < length xs && !p xs[i] do i + 1

def broken p xs = let i = first_where p xs in (take i xs, drop i xs)

def number [n] (s: [n]u8) : i32 = foldl (\x c -> x * 10 + i32.u8 (c - '0')) 0 s

def is_digit (c: u8) = c >= '0' && c <= '9'

-- ==
-- entry: call
-- input { "123 45" } output { 123i32 6i64 }
-- input { "x" } output { 0i32 0i64 }

entry call (s: []u8) : (i32, i64) = (number (broken (not <-< is_digit) s).0, length (broken is_digit s).1)

-- ==
-- entry: calls
-- input { [[1, 2, 9, 1], [9, 9, 9, 9], [0, 0, 0, 0]] } output { [3, 0, 0] }

entry calls [n] [m] (xss: [n][m]i32) : [n]i32 =
  map (\xs -> i32.sum (broken (> 5) xs).0) xss

def windows k s = map (\i -> take k (drop i s)) (take (length s - k) (indices s))

def f &&& g = \x -> (f x, g x)

-- ==
-- entry: windowed
-- input { [1, 2, 3, 4, 5] } output { [6i64, 10i64, 14i64] }

entry windowed [n] (xs: [n]i32) : []i64 =
  windows 2 xs |> (id &&& indices) |> uncurry zip |> map (\(w, i) -> i64.i32 (i32.sum w * 2) + i - i)

-- Sizes that are written as the same operations are equal part by part.
type coefficients [l] = [(l + 1) * (l + 1) - 1]f32

def degree [n] [l] (_: [n](coefficients [l])) : i64 = l

-- ==
-- entry: degrees
-- input { [[1f32, 2f32, 3f32]] } output { 1i64 }
-- input { [[1f32, 2f32]] } error: .

entry degrees [n] (xss: [n][]f32) : i64 =
  let cs = xss :> [n](coefficients [1])
  in degree cs

-- ==
-- entry: column
-- input { [3, 4] } output { [[3], [4]] [3, 4] }

entry column [m] (b: [m]i32) : ([m][1]i32, [m]i32) =
  let c = b |> sized (m * 1) |> unflatten
  in (c, c |> flatten |> sized m)

def strides (n: i64) (p: i64) (k: i64) : i64 = (p + n + p - 2 * (k - 1) - 1) // 2 + 1

type strided [n] [k] [p] = [(p + n + p - 2 * (k - 1) - 1) // 2 + 1]f32

def dot [k] (n: i64) (p: i64) (_: strided [n] [k] [p]) (_: [k]f32) : i64 = n + 10 * p + 100 * k

-- ==
-- entry: strides_of
-- input { 7i64 1i64 [0f32, 0f32, 0f32] } output { 317i64 }

entry strides_of [k] (n: i64) (p: i64) (ker: [k]f32) : i64 =
  dot n p (replicate ((p + n + p - 2 * (k - 1) - 1) // 2 + 1) 1) ker

-- ==
-- entry: pairs
-- input { 3i64 } output { [0i64, 1i64, 2i64, 3i64, 4i64, 5i64] }

def sum_of (s: (i64, {by: i64})) : [s.0 * s.1.by]i64 = iota (s.0 * s.1.by)

def split [n] [m] 't (xs: [n * m]t) : [n][m]t = unflatten xs

entry pairs (n: i64) : []i64 = flatten (split (sum_of (n, {by = 2})))
