-- Tuples of many components, for which a tile of a GPU's block has no room in shared memory, nor a launch for all arrays as parameters.
-- Components are whole numbers, so that their sums are exact in any order.

type pair 't = (t, t)
type eight 't = pair (pair (pair t))

def both 'a (f: a -> a -> a) (x: pair a) (y: pair a) : pair a = (f x.0 y.0, f x.1 y.1)
def each8 'a (f: a -> a -> a) : eight a -> eight a -> eight a = both (both (both f))
def twice 'a (x: a) : pair a = (x, x)
def twice8 'a (x: a) : eight a = twice (twice (twice x))
def made 'a (f: i64 -> a) (i: i64) : pair a = (f (2 * i), f (2 * i + 1))
def made8 'a (f: i64 -> a) : i64 -> eight a = made (made (made f))
def total 'a (f: a -> f64) (x: pair a) : f64 = f x.0 + 3 * f x.1
def total8 'a (f: a -> f64) : eight a -> f64 = total (total (total f))

def small (i: i64) : f64 = f64.i64 (i * 31 % 7)

type wide = eight (pair (pair f64))

def add : wide -> wide -> wide = each8 (both (both (+)))
def zero : wide = twice8 (twice (twice 0))
def make : i64 -> wide = made8 (made (made small))
def weigh : wide -> f64 = total8 (total (total id))

-- A scan of 32 numbers, and what is done with it.
-- ==
-- entry: sums
-- input { 0i64 } auto output
-- input { 1i64 } auto output
-- input { 255i64 } auto output
-- input { 257i64 } auto output
-- input { 10000i64 } auto output
entry sums (n: i64) : []f64 = map weigh (scan add zero (map make (iota n)))

-- Sums and the numbers themselves leave the scan together.
-- ==
-- entry: sums_beside
-- input { 1000i64 } auto output
entry sums_beside (n: i64) : ([]f64, []f64) =
  let xs = map make (iota n)
  in unzip (map2 (\x s -> (weigh x, weigh s)) xs (scan add zero xs))

-- An operator that does not commute: the last component that is not zero stays.
-- ==
-- entry: last
-- input { 3000i64 } auto output
entry last (n: i64) : (f64, []f64) =
  let right : wide -> wide -> wide = each8 (both (both (\x y -> if y != 0 then y else x)))
  let xs = map make (iota n)
  in (weigh (reduce right zero xs), map weigh (scan right zero xs))

-- ==
-- entry: sum
-- input { 0i64 } auto output
-- input { 20000i64 } auto output
entry sum (n: i64) : f64 = weigh (reduce_comm add zero (map make (iota n)))

-- Rows.
-- ==
-- entry: rows
-- input { 3i64 2000i64 } auto output
-- input { 300i64 5i64 } auto output
entry rows (n: i64) (m: i64) : ([n]f64, [n][m]f64) =
  let xss = tabulate_2d n m (\i j -> make (i * m + j))
  in (map (\xs -> weigh (reduce add zero xs)) xss, map (\xs -> map weigh (scan add zero xs)) xss)

-- ==
-- entry: buckets
-- input { 5000i64 7i64 } auto output
-- input { 300i64 1000i64 } auto output
entry buckets (n: i64) (k: i64) : [k]f64 =
  map weigh (reduce_by_index (replicate k zero) add zero (map (\i -> i * i % k) (iota n)) (map make (iota n)))

-- ==
-- entry: kept
-- input { 5000i64 } auto output
entry kept (n: i64) : ([]f64, i64) =
  let ys = filter (\x -> weigh x % 3 == 0) (map make (iota n))
  in (map weigh ys, length ys)

type wider = eight (eight (pair (pair f64)))

-- A kernel with 512 arrays.
-- ==
-- entry: arrays
-- input { 70i64 3i64 } auto output
entry arrays (n: i64) (k: i64) : [n]f64 =
  let bump : wider -> wider -> wider = each8 (each8 (both (both (\x y -> x + 2 * y))))
  let xs = loop xs = map (made8 (made8 (made (made small)))) (iota n)
           for _i < k do map2 bump xs (rotate 1 xs)
  in map (total8 (total8 (total (total id)))) xs
