-- The prelude. Each definition begins in the first column and is read when a program first uses it.
-- `val` declares a built-in operation; the others are ordinary definitions.

-- | The results of a function for all elements of an array.
--
-- >>> map (\x -> x * x) [1, 2, 3]
-- [1, 4, 9]
val map 'a 'x [n] : (f: a -> x) -> (as: [n]a) -> *[n]x
-- | The same as `map`.
val map1 'a 'x [n] : (f: a -> x) -> (as: [n]a) -> *[n]x
-- | All elements combined by an associative operator, of which `ne` is the neutral element: `x op ne` is `x`.
--
-- >>> reduce (+) 0 [1, 2, 3]
-- 6
val reduce 'a [n] : (op: a -> a -> a) -> (ne: a) -> (as: [n]a) -> a
-- | As `reduce`, for operators that are commutative, too, which may be faster.
val reduce_comm 'a [n] : (op: a -> a -> a) -> (ne: a) -> (as: [n]a) -> a
-- | The inclusive scan: element `i` of the result combines the elements 0 to `i`.
--
-- >>> scan (+) 0 [1, 2, 3]
-- [1, 3, 6]
val scan 'a [n] : (op: a -> a -> a) -> (ne: a) -> (as: [n]a) -> *[n]a
-- | The elements that satisfy a condition, in their order.
--
-- >>> filter (\x -> x > 1) [1, 2, 3]
-- [2, 3]
val filter 'a [n] : (p: a -> bool) -> (as: [n]a) -> *[]a
-- | The elements that satisfy a condition, and the others, both in their order.
--
-- >>> partition (\x -> x % 2 == 0) [1, 2, 3, 4]
-- ([2, 4], [1, 3])
val partition 'a [n] : (p: a -> bool) -> (as: [n]a) -> ?[k].([k]a, [n - k]a)
-- | A histogram of `k` buckets: each element is combined with the bucket that its index says. Indices outside of the buckets are
-- ignored.
--
-- >>> hist (+) 0 3 [0, 2, 2] [1, 10, 100]
-- [1, 0, 110]
val hist 'a [n] : (op: a -> a -> a) -> (ne: a) -> (k: i64) -> (is: [n]i64) -> (as: [n]a) -> *[k]a
-- | As `hist`, with the buckets that `dest` has at the beginning. The array `dest` is consumed.
val reduce_by_index 'a [k] [n] : (dest: *[k]a) -> (f: a -> a -> a) -> (ne: a) -> (is: [n]i64) -> (as: [n]a) -> *[k]a
-- | As `reduce_by_index`, for a matrix of buckets.
val reduce_by_index_2d 'a [k] [m] [n] : (dest: *[k][m]a) -> (f: a -> a -> a) -> (ne: a) -> (is: [n](i64, i64)) -> (as: [n]a) -> *[k][m]a
-- | As `reduce_by_index`, for buckets in three dimensions.
val reduce_by_index_3d 'a [k] [m] [l] [n] : (dest: *[k][m][l]a) -> (f: a -> a -> a) -> (ne: a) -> (is: [n](i64, i64, i64)) -> (as: [n]a) -> *[k][m][l]a
-- | The array `dest` with the values `vs` written at the indices `is`. Indices outside of the array are ignored; the array `dest` is
-- consumed. Which one of different values for an index is written is not defined.
--
-- >>> scatter (replicate 4 0) [2, 0, 9] [5, 6, 7]
-- [6, 0, 5, 0]
val scatter 't [k] [n] : (dest: *[k]t) -> (is: [n]i64) -> (vs: [n]t) -> *[k]t
-- | As `scatter`, for matrices.
val scatter_2d 't [k] [m] [n] : (dest: *[k][m]t) -> (is: [n](i64, i64)) -> (vs: [n]t) -> *[k][m]t
-- | As `scatter`, for arrays of three dimensions.
val scatter_3d 't [k] [m] [l] [n] : (dest: *[k][m][l]t) -> (is: [n](i64, i64, i64)) -> (vs: [n]t) -> *[k][m][l]t
-- | The pairs of elements at the same index.
--
-- >>> zip [1, 2] [true, false]
-- [(1, true), (2, false)]
val zip 'a 'b [n] : (as: [n]a) -> (bs: [n]b) -> *[n](a, b)
-- | The same as `zip`.
val zip2 'a 'b [n] : (as: [n]a) -> (bs: [n]b) -> *[n](a, b)
-- | The first and the second components of pairs.
--
-- >>> unzip [(1, true), (2, false)]
-- ([1, 2], [true, false])
val unzip 'a 'b [n] : (xs: [n](a, b)) -> ([n]a, [n]b)
-- | The same as `unzip`.
val unzip2 'a 'b [n] : (xs: [n](a, b)) -> ([n]a, [n]b)
-- | The elements of one array and then those of another one.
--
-- >>> [1, 2] ++ [3]
-- [1, 2, 3]
val (++) 't [n] [m] : (xs: [n]t) -> (ys: [m]t) -> *[n + m]t
-- | The same as `++`.
val concat 't [n] [m] : (xs: [n]t) -> (ys: [m]t) -> *[n + m]t
-- | The elements of all rows, one row after the other.
--
-- >>> flatten [[1, 2], [3, 4]]
-- [1, 2, 3, 4]
val flatten 't [n] [m] : (xs: [n][m]t) -> [n * m]t
-- | A matrix of the elements of an array, row by row. The size of the array is a product, which says how many rows there are.
val unflatten 't [n] [m] : (xs: [n * m]t) -> [n][m]t
-- | The matrix whose rows are the columns of another one.
--
-- >>> transpose [[1, 2, 3], [4, 5, 6]]
-- [[1, 4], [2, 5], [3, 6]]
val transpose 't [n] [m] : (a: [n][m]t) -> [m][n]t
-- | The elements from the last to the first.
--
-- >>> reverse [1, 2, 3]
-- [3, 2, 1]
val reverse 't [n] : (x: [n]t) -> [n]t
-- | The elements from index `r` on, and then those before it. A negative `r` counts from the end.
--
-- >>> rotate 1 [1, 2, 3]
-- [2, 3, 1]
val rotate 't [n] : (r: i64) -> (a: [n]t) -> *[n]t
-- | The numbers from 0 to `n - 1`.
--
-- >>> iota 3
-- [0, 1, 2]
val iota : (n: i64) -> *[n]i64
-- | An array of `n` times the same value.
--
-- >>> replicate 3 true
-- [true, true, true]
val replicate 't : (n: i64) -> (x: t) -> *[n]t
-- | How many elements an array has.
--
-- >>> length [1, 2, 3]
-- 3
val length 't [n] : (xs: [n]t) -> i64
-- | A copy of a value, which aliases nothing and can be consumed.
val copy '~t : (a: t) -> *t
-- | The value with its arrays in memory row by row.
val manifest 't : (a: t) -> *t
-- | The value itself. No pass moves code across it or simplifies it.
val opaque 't : (x: t) -> t
-- | The value itself, which is written to standard error when the program runs.
val trace 't : (x: t) -> t
-- | The value itself. Debuggers stop here.
val break 't : (x: t) -> t
-- | The value of a function and its derivative in a direction `x'`, in forward mode.
--
-- >>> jvp2 (\x -> x * x) 3f64 1
-- (9.0, 6.0)
val jvp2 'a 'b : (f: a -> b) -> (x: a) -> (x': a) -> (b, b)
-- | The value of a function and the derivative by its argument, for a derivative `y'` by its result, in reverse mode.
--
-- >>> vjp2 (\x -> x * x) 3f64 1
-- (9.0, 6.0)
val vjp2 'a 'b : (f: a -> b) -> (x: a) -> (y': b) -> (b, a)
-- | A function `f` whose gradient is what `f'` says: it gets the result and the derivative by it, and gives the derivative by the
-- argument.
val with_vjp 'a 'b : (f: a -> b) -> (f': b -> b -> a) -> (x: a) -> b
-- | The rows of an irregular array: as many as there are lengths, with the elements of `xs` in their order.
val segment 't [n] [m] : (ls: [n]i64) -> (xs: [m]t) -> [n][..]t
-- | The arrays that `f` gives for all elements, one after the other: their lengths, flags of where each begins, their offsets, their
-- elements, and what else `f` gave.
val flatmap 'a 'b 'c [n] : (f: a -> ?[k].([k]b, c)) -> (as: [n]a) -> ?[m].([n]i64, [m]bool, [n]i64, [m]b, [n]c)

-- Functions.

-- | A function applied to the value before it.
--
-- >>> 3 |> i64.neg
-- -3
def (|>) '^a '^b (x: a) (f: a -> b) : b = f x
-- | A function applied to the value behind it.
def (<|) '^a '^b (f: a -> b) (x: a) : b = f x
-- | The composition of two functions: the first one, then the second one.
def (>->) '^a '^b '^c (first: a -> b) (second: b -> c) (x: a) : c = second (first x)
-- | The composition of two functions: the second one, then the first one.
def (<-<) '^a '^b '^c (second: b -> c) (first: a -> b) (x: a) : c = second (first x)
-- | The value itself.
def id '^a (x: a) : a = x
-- | The first argument, whatever the second one is.
def const '^a '^b (x: a) (_: b) : a = x
-- | The function with its two parameters in the other order.
--
-- >>> flip (-) 1 10
-- 9
def flip '^a '^b '^c (f: a -> b -> c) (y: b) (x: a) : c = f x y
-- | A function of a pair as one of two parameters.
def curry '^a '^b '^c (f: (a, b) -> c) (x: a) (y: b) : c = f (x, y)
-- | A function of two parameters as one of a pair.
def uncurry '^a '^b '^c (f: a -> b -> c) (x: a, y: b) : c = f x y
-- | A function applied `times` times.
--
-- >>> iterate 3 (\x -> 2 * x) 1
-- 8
def iterate 'a (times: i32) (f: a -> a) (x: a) : a = loop y = x for _i < times do f y
-- | A function applied as long as a condition holds.
--
-- >>> iterate_while (\x -> x < 100) (\x -> 2 * x) 1
-- 128
def iterate_while 'a (go: a -> bool) (f: a -> a) (x: a) : a = loop y = x while go y do f y
-- | A function applied until a condition holds.
def iterate_until 'a (stop: a -> bool) (f: a -> a) (x: a) : a = loop y = x while !(stop y) do f y

-- Derivatives.

-- | The derivative of a function in a direction `x'`, in forward mode.
--
-- >>> jvp (\x -> x * x) 3f64 1
-- 6.0
def jvp 'a 'b (f: a -> b) (x: a) (x': a) : b = (jvp2 f x x').1
-- | The derivative by the argument of a function, for a derivative `y'` by its result, in reverse mode.
--
-- >>> vjp (\(x, y) -> x * y) (3f64, 5) 1
-- (5.0, 3.0)
def vjp 'a 'b (f: a -> b) (x: a) (y': b) : a = (vjp2 f x y').1
-- | As `jvp`, for several directions.
def jmp 'a 'b [n] (f: a -> b) (x: a) (xs': [n]a) : [n]b = map (\x' -> (jvp2 f x x').1) xs'
-- | As `vjp`, for several derivatives by the result.
def mjp 'a 'b [n] (f: a -> b) (x: a) (ys': [n]b) : [n]a = map (\y' -> (vjp2 f x y').1) ys'
-- | As `with_vjp`, for a function that also hands values over to its gradient.
def with_vjp_tape 'a 'b 'c (f: a -> (c, b)) (f': (c, b) -> a) (x: a) : b =
  (with_vjp f (\(tape, _) (_, y') -> f' (tape, y')) x).1
-- | As `jmp`, with the value of the function.
def jmp2 'a 'b [n] (f: a -> b) (x: a) (xs': [n]a) : (b, [n]b) = (f x, jmp f x xs')
-- | As `mjp`, with the value of the function.
def mjp2 'a 'b [n] (f: a -> b) (x: a) (ys': [n]b) : (b, [n]a) = (f x, mjp f x ys')
-- | The product of the Hessian of `f` at `x` with `v`; `one` is 1.
def hvp 'a 't (one: t) (f: a -> t) (x: a) (v: a) : a = jvp (\x -> vjp f x one) x v
-- | For each key from 0 to `n - 1` where its entries begin in the second result, which has the entries in the order of their keys.
def entries_by_key [k] (n: i64) (keys: [k]i64) : ([n + 1]i64, [k]i64) =
  let counts = reduce_by_index (replicate (n + 1) 0) (+) 0 (map (+ 1) keys) (replicate k 1)
  let starts = scan (+) 0 counts
  let (_, order) =
    loop (next, order) = (copy starts, replicate k 0) for e < k do
      let at = next[keys[e]]
      in (next with [keys[e]] = at + 1, order with [at] = e)
  in (starts, order)
-- | How many colours the columns of a matrix with entries in these rows and columns need, and the colour of each: no two columns of a
-- colour have entries in one row. The columns are coloured greedily, in order (Curtis, Powell and Reid 1974).
def column_colours [k] (m: i64) (n: i64) (rows: [k]i64) (cols: [k]i64) : (i64, [n]i64) =
  let (row_starts, by_row) = entries_by_key m rows
  let (col_starts, by_col) = entries_by_key n cols
  let (colours, _) =
    loop (colours, taken) = (replicate n (-1), replicate (n + 1) (-1)) for j < n do
      let taken =
        loop taken for e in col_starts[j]..<col_starts[j + 1] do
          let row = rows[by_col[e]]
          in loop taken for d in row_starts[row]..<row_starts[row + 1] do
               let colour = colours[cols[by_row[d]]]
               in if colour < 0 then taken else taken with [colour] = j
      let colour = loop c = 0 while taken[c] == j do c + 1
      in (colours with [j] = colour, taken)
  in (1 + reduce i64.max (-1) colours, colours)
-- | The entries of the Jacobian of `f` at `x` in these rows and columns; all others are 0. `jvp` is taken once for each colour of the columns
-- (`column_colours`); `number` makes 1 of `true`, as `f64.bool`.
def sparse_jacobian 't [n] [m] [k] (number: bool -> t) (f: [n]t -> [m]t) (x: [n]t) (rows: [k]i64) (cols: [k]i64) : [k]t =
  let (count, colours) = column_colours m n rows cols
  let products = jmp f x (map (\c -> map (\colour -> number (colour == c)) colours) (iota count))
  in map2 (\i j -> products[colours[j], i]) rows cols
-- | The same with `vjp` for each colour of the rows: for matrices with few rows that have entries in one column.
def sparse_jacobian_by_rows 't [n] [m] [k] (number: bool -> t) (f: [n]t -> [m]t) (x: [n]t) (rows: [k]i64) (cols: [k]i64) : [k]t =
  let (count, colours) = column_colours n m cols rows
  let products = mjp f x (map (\c -> map (\colour -> number (colour == c)) colours) (iota count))
  in map2 (\i j -> products[colours[i], j]) rows cols

-- Several arrays at once.

-- | As `zip`, for three arrays.
def zip3 'a 'b 'c [n] (as: [n]a) (bs: [n]b) (cs: [n]c) : *[n](a, b, c) =
  map (\((a, b), c) -> (a, b, c)) (zip (zip as bs) cs)

-- | As `zip`, for four arrays.
def zip4 'a 'b 'c 'd [n] (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) : *[n](a, b, c, d) =
  map (\((a, b), (c, d)) -> (a, b, c, d)) (zip (zip as bs) (zip cs ds))

-- | As `zip`, for five arrays.
def zip5 'a 'b 'c 'd 'e [n] (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) (es: [n]e) : *[n](a, b, c, d, e) =
  map (\((a, b), ((c, d), e)) -> (a, b, c, d, e)) (zip (zip as bs) (zip (zip cs ds) es))

-- | As `unzip`, for triples.
def unzip3 'a 'b 'c [n] (xs: [n](a, b, c)) : ([n]a, [n]b, [n]c) =
  (map (.0) xs, map (.1) xs, map (.2) xs)

-- | As `unzip`, for tuples of four.
def unzip4 'a 'b 'c 'd [n] (xs: [n](a, b, c, d)) : ([n]a, [n]b, [n]c, [n]d) =
  (map (.0) xs, map (.1) xs, map (.2) xs, map (.3) xs)

-- | As `unzip`, for tuples of five.
def unzip5 'a 'b 'c 'd 'e [n] (xs: [n](a, b, c, d, e)) : ([n]a, [n]b, [n]c, [n]d, [n]e) =
  (map (.0) xs, map (.1) xs, map (.2) xs, map (.3) xs, map (.4) xs)

-- | The results of a function for the elements of two arrays at the same index.
--
-- >>> map2 (+) [1, 2] [10, 20]
-- [11, 22]
def map2 'a 'b 'x [n] (f: a -> b -> x) (as: [n]a) (bs: [n]b) : *[n]x =
  map (\(a, b) -> f a b) (zip as bs)

-- | As `map2`, for three arrays.
def map3 'a 'b 'c 'x [n] (f: a -> b -> c -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) : *[n]x =
  map (\(a, b, c) -> f a b c) (zip3 as bs cs)

-- | As `map2`, for four arrays.
def map4 'a 'b 'c 'd 'x [n] (f: a -> b -> c -> d -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) : *[n]x =
  map (\(a, b, c, d) -> f a b c d) (zip4 as bs cs ds)

-- | As `map2`, for five arrays.
def map5 'a 'b 'c 'd 'e 'x [n] (f: a -> b -> c -> d -> e -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) (es: [n]e) : *[n]x =
  map (\(a, b, c, d, e) -> f a b c d e) (zip5 as bs cs ds es)

-- Reductions, scans, searches.

-- | Whether all elements satisfy a condition.
--
-- >>> all (\x -> x > 0) [1, 2]
-- true
def all 'a [n] (p: a -> bool) (as: [n]a) : bool = reduce_comm (&&) true (map p as)
-- | Whether an element satisfies a condition.
--
-- >>> any (\x -> x > 1) [1, 2]
-- true
def any 'a [n] (p: a -> bool) (as: [n]a) : bool = reduce_comm (||) false (map p as)
-- | Whether all are true.
def and [n] (bs: [n]bool) : bool = reduce_comm (&&) true bs
-- | Whether one is true.
def or [n] (bs: [n]bool) : bool = reduce_comm (||) false bs
-- | A function applied to what it gave before and the next element, from the first one to the last one, sequentially.
--
-- >>> foldl (\acc b -> 10 * acc + b) 0 [1, 2, 3]
-- 123
def foldl 'a 'b [n] (f: a -> b -> a) (start: a) (bs: [n]b) : a = loop acc = start for b in bs do f acc b
-- | As `foldl`, from the last element to the first one.
def foldr 'a 'b [n] (f: b -> a -> a) (start: a) (bs: [n]b) : a = loop acc = start for b in reverse bs do f b acc

-- | The exclusive scan: element `i` of the result combines the elements before `i`.
--
-- >>> exscan (+) 0 [1, 2, 3]
-- [0, 1, 3]
def exscan 'a [n] (op: a -> a -> a) (ne: a) (as: [n]a) : *[n]a =
  let sums = scan op ne as
  in map (\i -> if i == 0 then ne else sums[i - 1]) (iota n)

-- | An array of `k` times `x`, with the values `vs` written at the indices `is`.
def spread 't [n] (k: i64) (x: t) (is: [n]i64) (vs: [n]t) : *[k]t =
  scatter (replicate k x) is vs

-- | The elements that satisfy `p`, those of the others that satisfy `q`, and the rest.
def partition2 'a [n] (p: a -> bool) (q: a -> bool) (as: [n]a) : ?[k][l].([k]a, [l]a, [n - k - l]a) =
  let (first, rest) = partition p as
  let (second, third) = partition q rest
  in (first, second, third)

-- | As `flatmap`, for functions that give only an array.
def flatmap' 'a 'b [n] (f: a -> ?[k].[k]b) (as: [n]a) : ?[m].([n]i64, [m]bool, [n]i64, [m]b) =
  let (lengths, flags, offsets, elements, _) = flatmap (\x -> (f x, ())) as
  in (lengths, flags, offsets, elements)

-- Functions of chunks: of one 8192nd of the elements each, but of 16 at least, and what is left.

-- | The results of a function for chunks, one after the other. They must not depend on what the chunks are.
def stream_map 'a 'b [n] (f: (k: i64) -> [k]a -> [k]b) (as: [n]a) : *[n]b =
  let c = i64.max 16 (n / 8192)
  let m = n / c
  let r = n - m * c
  let whole = map (\i -> f c (as[i * c:i * c + c] :> [c]a)) (iota m)
  in (flatten whole ++ f r (as[m * c:] :> [r]a)) :> *[n]b

-- | The results of a function for chunks, combined by an associative operator.
def stream_red 'a 'b [n] (op: b -> b -> b) (f: (k: i64) -> [k]a -> b) (as: [n]a) : b =
  let c = i64.max 16 (n / 8192)
  let m = n / c
  let r = n - m * c
  let ne = f 0 (as[:0] :> [0]a)
  let whole = reduce op ne (map (\i -> f c (as[i * c:i * c + c] :> [c]a)) (iota m))
  in if r == 0 then whole else op whole (f r (as[m * c:] :> [r]a))

-- | One chunk after another: each begins with what the one before has left.
def stream_seq 'acc 'a 'b [n] (f: (k: i64) -> acc -> [k]a -> (acc, [k]b)) (start: acc) (as: [n]a) : (acc, *[n]b) =
  let c = i64.min n (i64.max 16 (n / 8192))
  let (acc, first) = f c start (as[:c] :> [c]a)
  in if c == n
     then (acc, copy (first :> [n]b))
     else let bs: *[n]b = copy (first ++ replicate (n - c) first[0]) :> *[n]b
          let m = n / c
          let (acc, bs) =
            loop (acc, bs) for i < m - 1 do
              let p = (i + 1) * c
              let (acc, ys) = f c acc (as[p:p + c] :> [c]a)
              in (acc, bs with [p:p + c] = ys)
          let r = n - m * c
          in if r == 0
             then (acc, bs)
             else let (acc, ys) = f r acc (as[n - r:] :> [r]a)
                  in (acc, bs with [n - r:n] = ys)

-- Making arrays and taking them apart.

-- | Whether an array has no elements.
def null 't [n] (_: [n]t) : bool = n == 0
-- | The first element.
--
-- >>> head [1, 2, 3]
-- 1
def head 't [n] (xs: [n]t) : t = xs[0]
-- | The last element.
def last 't [n] (xs: [n]t) : t = xs[n - 1]
-- | All elements but the first one.
def tail 't [n] (xs: [n]t) : [n - 1]t = xs[1:]
-- | All elements but the last one.
def init 't [n] (xs: [n]t) : [n - 1]t = xs[:n - 1]
-- | The first `k` elements.
--
-- >>> take 2 [1, 2, 3]
-- [1, 2]
def take 't [n] (k: i64) (xs: [n]t) : [k]t = xs[:k]
-- | All elements but the first `k`.
--
-- >>> drop 2 [1, 2, 3]
-- [3]
def drop 't [n] (k: i64) (xs: [n]t) : [n - k]t = xs[k:]
-- | The first `n` elements and the others; the type of the result says the sizes.
def split 't [n] [m] (xs: [n + m]t) : ([n]t, [m]t) = (xs[:n], xs[n:] :> [m]t)
-- | The array with a size that is checked when the program runs.
def sized 't [m] (n: i64) (xs: [m]t) : [n]t = xs :> [n]t
-- | The lengths of the rows of an irregular array.
def lengths 't [n] (xss: [n][..]t) : *[n]i64 = map length xss
-- | The indices of an array.
--
-- >>> indices [true, false]
-- [0, 1]
def indices 't [n] (_: [n]t) : *[n]i64 = iota n
-- | An array of as many times a value as its type says.
def rep 't [n] (x: t) : *[n]t = replicate n x
-- | The results of a function for the numbers from 0 to `n - 1`.
--
-- >>> tabulate 3 (\i -> i * i)
-- [0, 1, 4]
def tabulate 'a (n: i64) (f: i64 -> a) : *[n]a = map f (iota n)

-- | As `tabulate`, for the indices of a matrix.
--
-- >>> tabulate_2d 2 3 (\i j -> 10 * i + j)
-- [[0, 1, 2], [10, 11, 12]]
def tabulate_2d 'a (n: i64) (m: i64) (f: i64 -> i64 -> a) : *[n][m]a =
  map (\i -> map (f i) (iota m)) (iota n)

-- | As `tabulate`, for the indices of an array of three dimensions.
def tabulate_3d 'a (n: i64) (m: i64) (o: i64) (f: i64 -> i64 -> i64 -> a) : *[n][m][o]a =
  map (\i -> map (\j -> map (f i j) (iota o)) (iota m)) (iota n)

-- | As `flatten`, for three dimensions.
def flatten_3d 't [n] [m] [l] (xs: [n][m][l]t) : [n * m * l]t = flatten (flatten xs)
-- | As `flatten`, for four dimensions.
def flatten_4d 't [n] [m] [l] [k] (xs: [n][m][l][k]t) : [n * m * l * k]t = flatten (flatten (flatten xs))

-- | As `unflatten`, for three dimensions.
def unflatten_3d 't [n] [m] [l] (xs: [n * m * l]t) : [n][m][l]t = unflatten (unflatten xs)
-- | As `unflatten`, for four dimensions.
def unflatten_4d 't [n] [m] [l] [k] (xs: [n * m * l * k]t) : [n][m][l][k]t = unflatten (unflatten (unflatten xs))

-- Scalars.

-- | The other truth value.
def not (x: bool) : bool = !x
-- | An `i32` as an `f32`.
def r32 (x: i32) : f32 = f32.i32 x
-- | An `f32` as an `i32`, rounded towards 0.
def t32 (x: f32) : i32 = i32.f32 x
-- | An `i32` as an `f64`.
def r64 (x: i32) : f64 = f64.i32 x
-- | An `f64` as an `i32`, rounded towards 0.
def t64 (x: f64) : i32 = i32.f64 x

-- The module types of the numeric modules.

-- | Conversions from every scalar type. Integers wrap around; a float becomes the integer that it is rounded to towards 0.
module type from_prim = {
  -- | The type of the numbers.
  type t
  -- | A number of type `i8` as one of type `t`.
  val i8 : i8 -> t
  -- | A number of type `i16` as one of type `t`.
  val i16 : i16 -> t
  -- | A number of type `i32` as one of type `t`.
  val i32 : i32 -> t
  -- | A number of type `i64` as one of type `t`.
  val i64 : i64 -> t
  -- | A number of type `u8` as one of type `t`.
  val u8 : u8 -> t
  -- | A number of type `u16` as one of type `t`.
  val u16 : u16 -> t
  -- | A number of type `u32` as one of type `t`.
  val u32 : u32 -> t
  -- | A number of type `u64` as one of type `t`.
  val u64 : u64 -> t
  -- | A number of type `f16` as one of type `t`.
  val f16 : f16 -> t
  -- | A number of type `f32` as one of type `t`.
  val f32 : f32 -> t
  -- | A number of type `f64` as one of type `t`.
  val f64 : f64 -> t
  -- | 1 for true, 0 for false.
  val bool : bool -> t
}

-- | What all modules of numbers have.
module type numeric = {
  include from_prim
  -- | The sum.
  val (+) : t -> t -> t
  -- | The difference.
  val (-) : t -> t -> t
  -- | The product.
  val (*) : t -> t -> t
  -- | The quotient; of integers rounded down.
  val (/) : t -> t -> t
  -- | What is left after division; of integers with the sign of the second number.
  val (%) : t -> t -> t
  -- | The first number to the power of the second one.
  val (**) : t -> t -> t
  -- | Whether numbers are equal.
  val (==) : t -> t -> bool
  -- | Whether numbers differ.
  val (!=) : t -> t -> bool
  -- | Whether the first number is less.
  val (<) : t -> t -> bool
  -- | Whether the first number is at most the second one.
  val (<=) : t -> t -> bool
  -- | Whether the first number is greater.
  val (>) : t -> t -> bool
  -- | Whether the first number is at least the second one.
  val (>=) : t -> t -> bool
  -- | The number as an `i64`.
  val to_i64 : t -> i64
  -- | The number with the other sign.
  val neg : t -> t
  -- | The absolute value.
  val abs : t -> t
  -- | -1, 0 or 1, as the number is negative, 0 or positive.
  val sgn : t -> t
  -- | The lesser one of two numbers.
  val min : t -> t -> t
  -- | The greater one of two numbers.
  val max : t -> t -> t
  -- | The least number of the type.
  val lowest : t
  -- | The greatest number of the type.
  val highest : t
  -- | The sum of all elements.
  val sum [n] : [n]t -> t
  -- | The product of all elements.
  val product [n] : [n]t -> t
  -- | The least element; the greatest number of the type if there are none.
  val minimum [n] : [n]t -> t
  -- | The greatest element; the least number of the type if there are none.
  val maximum [n] : [n]t -> t
}

-- | What the modules of integers have.
module type integral = {
  include numeric
  -- | The quotient, rounded towards 0.
  val (//) : t -> t -> t
  -- | What is left after division, with the sign of the first number.
  val (%%) : t -> t -> t
  -- | The bits that both numbers have.
  val (&) : t -> t -> t
  -- | The bits that either number has.
  val (|) : t -> t -> t
  -- | The bits in which the numbers differ.
  val (^) : t -> t -> t
  -- | The bits moved up.
  val (<<) : t -> t -> t
  -- | The bits moved down; those of a signed number keep the sign.
  val (>>) : t -> t -> t
  -- | The bits moved down, with zeros above.
  val (>>>) : t -> t -> t
  -- | The other bits.
  val not : t -> t
  -- | How many bits a number has.
  val num_bits : i32
  -- | A bit of a number, 0 or 1, by its index from the lowest one.
  val get_bit : i32 -> t -> i32
  -- | The number with a bit, by its index, set to 0 or 1.
  val set_bit : i32 -> t -> i32 -> t
  -- | How many bits are 1.
  val popc : t -> i32
  -- | How many of the highest bits are 0.
  val clz : t -> i32
  -- | How many of the lowest bits are 0.
  val ctz : t -> i32
  -- | The upper half of the bits of the product.
  val mul_hi : (x: t) -> (y: t) -> t
  -- | The upper half of the bits of `a * b`, plus `c`.
  val mad_hi : (a: t) -> (b: t) -> (c: t) -> t
}

-- | What the modules of numbers with fractions have.
module type real = {
  include numeric
  -- | The quotient of two integers.
  val from_fraction : i64 -> i64 -> t
  -- | The number as an `f64`.
  val to_f64 : t -> f64
  -- | 1 divided by the number.
  val recip : t -> t
  -- | The square root.
  val sqrt : t -> t
  -- | 1 divided by the square root.
  val rsqrt : t -> t
  -- | The cube root.
  val cbrt : t -> t
  -- | The exponential function.
  val exp : t -> t
  -- | The natural logarithm.
  val log : t -> t
  -- | The logarithm to base 2.
  val log2 : t -> t
  -- | The logarithm to base 10.
  val log10 : t -> t
  -- | The natural logarithm of 1 plus the number, exact for small numbers, too.
  val log1p : t -> t
  -- | The sine.
  val sin : t -> t
  -- | The cosine.
  val cos : t -> t
  -- | The tangent.
  val tan : t -> t
  -- | The sine of pi times the number.
  val sinpi : t -> t
  -- | The cosine of pi times the number.
  val cospi : t -> t
  -- | The tangent of pi times the number.
  val tanpi : t -> t
  -- | The inverse of the sine.
  val asin : t -> t
  -- | The inverse of the cosine.
  val acos : t -> t
  -- | The inverse of the tangent.
  val atan : t -> t
  -- | The inverse of the sine, divided by pi.
  val asinpi : t -> t
  -- | The inverse of the cosine, divided by pi.
  val acospi : t -> t
  -- | The inverse of the tangent, divided by pi.
  val atanpi : t -> t
  -- | The angle of the point whose coordinates are the second and the first number.
  val atan2 : t -> t -> t
  -- | As `atan2`, divided by pi.
  val atan2pi : t -> t -> t
  -- | The hyperbolic sine.
  val sinh : t -> t
  -- | The hyperbolic cosine.
  val cosh : t -> t
  -- | The hyperbolic tangent.
  val tanh : t -> t
  -- | The inverse of the hyperbolic sine.
  val asinh : t -> t
  -- | The inverse of the hyperbolic cosine.
  val acosh : t -> t
  -- | The inverse of the hyperbolic tangent.
  val atanh : t -> t
  -- | The square root of the sum of the squares of two numbers, without overflow.
  val hypot : t -> t -> t
  -- | The gamma function.
  val gamma : t -> t
  -- | The logarithm of the absolute value of the gamma function.
  val lgamma : t -> t
  -- | The error function.
  val erf : t -> t
  -- | 1 minus the error function.
  val erfc : t -> t
  -- | Linear interpolation from the first number to the second one, by the third one, which is from 0 to 1.
  val lerp : t -> t -> t -> t
  -- | Rounded up.
  val ceil : t -> t
  -- | Rounded down.
  val floor : t -> t
  -- | Rounded towards 0.
  val trunc : t -> t
  -- | Rounded to the nearest integer; halves to the even one.
  val round : t -> t
  -- | `a * b + c`.
  val mad : (a: t) -> (b: t) -> (c: t) -> t
  -- | `a * b + c`, rounded once.
  val fma : (a: t) -> (b: t) -> (c: t) -> t
  -- | Whether the number is infinite.
  val isinf : t -> bool
  -- | Whether it is not a number.
  val isnan : t -> bool
  -- | Infinity.
  val inf : t
  -- | Not a number.
  val nan : t
  -- | The constant pi.
  val pi : t
  -- | The base of natural logarithms.
  val e : t
}

-- | What the modules of floating-point numbers have.
module type float = {
  include real
  -- | The unsigned integers with as many bits.
  type int_t
  -- | The number that has these bits.
  val from_bits : int_t -> t
  -- | The bits of the number.
  val to_bits : t -> int_t
  -- | How many bits a number has.
  val num_bits : i32
  -- | A bit of a number, 0 or 1, by its index from the lowest one.
  val get_bit : i32 -> t -> i32
  -- | The number with a bit, by its index, set to 0 or 1.
  val set_bit : i32 -> t -> i32 -> t
  -- | The difference between 1 and the next greater number.
  val epsilon : t
  -- | The next number from `x` towards `y`.
  val nextafter : (x: t) -> (y: t) -> t
  -- | The number times 2 to the power of an integer.
  val ldexp : t -> i32 -> t
  -- | The absolute value of `x` with the sign of `y`.
  val copysign : (x: t) -> (y: t) -> t
}
