-- The module `seq`: sequences, of which only a chunk is there at once. A sequence is how many elements it has at most, whether
-- it has as many, and a function from a place and a number of elements to these elements; there are fewer at the end only.
-- Consumers go from chunk to chunk, and what they compute depends on the places of elements, not on chunks. All of them find the
-- next place in the same way, so that those of one sequence can go through it together.
-- The definitions stand in the order in which they need each other.

val make 't : (most: i64) -> (exact: bool) -> (chunk: i64 -> (k: i64) -> ?[m].[m]t) -> seq t
val parts 't : seq t -> (i64, bool, i64 -> (k: i64) -> ?[m].[m]t)
-- Whether nothing in the elements of an array has rows of any lengths.
val flat 't [n] : [n]t -> bool
-- Hands elements of the result of an entry point over; how many.
val put 't [m] : [m]t -> i64
val next : (before: i64) -> (left: i64) -> i64

-- Puts elements behind the first `used` ones of a buffer, which grows to twice what is needed if more will come; rows of any
-- lengths are not put in place of others.
def append 't [c] [l] (buffer: *[c]t) (used: i64) (more: bool) (xs: [l]t) : *[]t =
  if flat xs && used + l <= c
  then buffer with [used:used + l] = xs
  else if flat xs && more
  then let both = buffer[:used] ++ xs in both ++ both
  else buffer[:used] ++ xs

-- | The sequence of the results of `f` for 0 to `n - 1`.
def produce 't (n: i64) (f: i64 -> t) : seq t =
  make (i64.max 0 n) true (\p k -> map (\i -> f (p + i)) (iota k))

-- | The elements of an array.
def from_array 't [n] (xs: [n]t) : seq t =
  make n true (\p k -> xs[p:p + k])

-- | The results of a function for all elements.
def map 'a 'b (f: a -> b) (s: seq a) : seq b =
  let (n, exact, chunk) = parts s
  in make n exact (\p k -> map1 f (chunk p k))

-- | The results of a function for elements of two sequences at the same index; the sequence is as long as the shorter one.
def zip_with 'a 'b 'c (f: a -> b -> c) (s: seq a) (t: seq b) : seq c =
  let (n, exact_s, chunk_s) = parts s
  let (m, exact_t, chunk_t) = parts t
  let exact = if n <= m then exact_s && (exact_t || n == 0) else exact_t && (exact_s || m == 0)
  in make (i64.min n m) exact (\p k ->
       let xs = chunk_s p k
       let ys = chunk_t p k
       let l = i64.min (length xs) (length ys)
       in map2 f xs[:l] ys[:l])

-- | The pairs of elements of two sequences at the same index.
def zip 'a 'b (s: seq a) (t: seq b) : seq (a, b) =
  let (n, exact_s, chunk_s) = parts s
  let (m, exact_t, chunk_t) = parts t
  let exact = if n <= m then exact_s && (exact_t || n == 0) else exact_t && (exact_s || m == 0)
  in make (i64.min n m) exact (\p k ->
       let xs = chunk_s p k
       let ys = chunk_t p k
       let l = i64.min (length xs) (length ys)
       in zip2 xs[:l] ys[:l])

-- | A function applied to what it gave before and the next element, from the first one to the last one.
def fold 'a 't (f: a -> t -> a) (start: a) (s: seq t) : a =
  let (n, _, chunk) = parts s
  let (a, _, _) =
    loop (a, p, more) = (start, 0, 0 < n) while more do
      let k = next p (n - p)
      let xs = chunk p k
      let m = length xs
      let q = p + m
      in (loop a for x in xs do f a x, q, m == k && q < n)
  in a

-- | As `fold`, for whole chunks. What `f` makes of a chunk must not depend on what the chunks are.
def fold_chunks 'a 't (f: a -> (k: i64) -> [k]t -> a) (start: a) (s: seq t) : a =
  let (n, _, chunk) = parts s
  let (a, _, _) =
    loop (a, p, more) = (start, 0, 0 < n) while more do
      let k = next p (n - p)
      let [m] (xs: [m]t) = chunk p k
      let q = p + m
      in (f a m xs, q, m == k && q < n)
  in a

-- | How many elements there are.
def length 't (s: seq t) : i64 =
  let (n, exact, chunk) = parts s
  in if exact
     then n
     else let (p, _) =
            loop (p, more) = (0, 0 < n) while more do
              let k = next p (n - p)
              let [m] (_: [m]t) = chunk p k
              let q = p + m
              in (q, m == k && q < n)
          in p

-- Blocks of a fixed number of elements are reduced from left to right, many at once, and then their results. A block that
-- lies in several chunks goes on where it was.
-- | All elements combined by an associative operator. Blocks of a fixed number of elements are reduced from left to right, many at
-- once, and then their results.
def reduce 't (op: t -> t -> t) (ne: t) (s: seq t) : t =
  let (n, _, chunk) = parts s
  let b = 256
  let (total, begun, _, _) =
    loop (total, begun, p, more) = (ne, ne, 0, 0 < n) while more do
      let k = next p (n - p)
      let xs = chunk p k
      let m = length xs
      let q = p + m
      let first = p / b
      let blocks = (q + b - 1) / b - first
      let sums =
        map (\j ->
               let from = i64.max p ((first + j) * b)
               let to = i64.min q ((first + j + 1) * b)
               in loop a = if j == 0 then begun else ne for i < to - from do op a xs[from - p + i])
            (iota blocks)
      let full = q / b - first
      let total = loop total for j < full do op total sums[j]
      let begun = if full < blocks then sums[full] else ne
      in (total, begun, q, m == k && q < n)
  in op total begun

-- | The elements of all rows, one row after the other.
def elements 't (s: seq ([..]t)) : []t =
  let (n, _, chunk) = parts s
  let (buffer, used, _, _) =
    loop (buffer: *[]t, used, p, more) = ([], 0, 0, 0 < n) while more do
      let k = next p (n - p)
      let xss = chunk p k
      let m = length xss
      let q = p + m
      let more = m == k && q < n
      let xs = flatten xss
      in (append buffer used more xs, used + length xs, q, more)
  in buffer[:used]

-- | All elements as an array.
def to_array 't (s: seq t) : []t =
  let (n, _, chunk) = parts s
  let (buffer, _, p) =
    loop (buffer: *[]t, more, p) = ([], 0 < n, 0) while more do
      let k = next p (n - p)
      let xs = chunk p k
      let m = length xs
      let q = p + m
      let more = m == k && q < n
      in (append buffer p more xs, more, q)
  in buffer[:p]

-- | All rows as an irregular array.
def rows 't (s: seq ([..]t)) : [][..]t =
  let (n, _, chunk) = parts s
  let (buffer, used, ends, _, p) =
    loop (buffer: *[]t, used, ends: *[]i64, more, p) = ([], 0, [], 0 < n, 0) while more do
      let k = next p (n - p)
      let xss = chunk p k
      let m = length xss
      let q = p + m
      let more = m == k && q < n
      let xs = flatten xss
      in (append buffer used more xs, used + length xs, append ends p more (lengths xss), more, q)
  in segment ends[:p] buffer[:used]

-- | All rows, cut to the length of the shortest one, as a matrix.
def tabulate 't (s: seq ([..]t)) : [][]t =
  let xss = rows s
  let w = if null xss then 0 else i64.minimum (lengths xss)
  in map (\xs -> xs[:w]) xss

-- What goes through the result of an entry point.
def drain 't (s: seq t) : i64 =
  let (n, _, chunk) = parts s
  let (p, _) =
    loop (p, more) = (0, 0 < n) while more do
      let k = next p (n - p)
      let m = put (chunk p k)
      let q = p + m
      in (q, m == k && q < n)
  in p
