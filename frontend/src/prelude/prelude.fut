-- The prelude. Each definition begins in the first column and is read when a program first uses it.
-- `val` declares a built-in operation; the others are ordinary definitions.

val map 'a 'x [n] : (f: a -> x) -> (as: [n]a) -> *[n]x
val map1 'a 'x [n] : (f: a -> x) -> (as: [n]a) -> *[n]x
val reduce 'a [n] : (op: a -> a -> a) -> (ne: a) -> (as: [n]a) -> a
val reduce_comm 'a [n] : (op: a -> a -> a) -> (ne: a) -> (as: [n]a) -> a
val scan 'a [n] : (op: a -> a -> a) -> (ne: a) -> (as: [n]a) -> *[n]a
val filter 'a [n] : (p: a -> bool) -> (as: [n]a) -> *[]a
val partition 'a [n] : (p: a -> bool) -> (as: [n]a) -> ?[k].([k]a, [n - k]a)
val hist 'a [n] : (op: a -> a -> a) -> (ne: a) -> (k: i64) -> (is: [n]i64) -> (as: [n]a) -> *[k]a
val reduce_by_index 'a [k] [n] : (dest: *[k]a) -> (f: a -> a -> a) -> (ne: a) -> (is: [n]i64) -> (as: [n]a) -> *[k]a
val reduce_by_index_2d 'a [k] [m] [n] : (dest: *[k][m]a) -> (f: a -> a -> a) -> (ne: a) -> (is: [n](i64, i64)) -> (as: [n]a) -> *[k][m]a
val reduce_by_index_3d 'a [k] [m] [l] [n] : (dest: *[k][m][l]a) -> (f: a -> a -> a) -> (ne: a) -> (is: [n](i64, i64, i64)) -> (as: [n]a) -> *[k][m][l]a
val scatter 't [k] [n] : (dest: *[k]t) -> (is: [n]i64) -> (vs: [n]t) -> *[k]t
val scatter_2d 't [k] [m] [n] : (dest: *[k][m]t) -> (is: [n](i64, i64)) -> (vs: [n]t) -> *[k][m]t
val scatter_3d 't [k] [m] [l] [n] : (dest: *[k][m][l]t) -> (is: [n](i64, i64, i64)) -> (vs: [n]t) -> *[k][m][l]t
val zip 'a 'b [n] : (as: [n]a) -> (bs: [n]b) -> *[n](a, b)
val zip2 'a 'b [n] : (as: [n]a) -> (bs: [n]b) -> *[n](a, b)
val unzip 'a 'b [n] : (xs: [n](a, b)) -> ([n]a, [n]b)
val unzip2 'a 'b [n] : (xs: [n](a, b)) -> ([n]a, [n]b)
val (++) 't [n] [m] : (xs: [n]t) -> (ys: [m]t) -> *[n + m]t
val concat 't [n] [m] : (xs: [n]t) -> (ys: [m]t) -> *[n + m]t
val flatten 't [n] [m] : (xs: [n][m]t) -> [n * m]t
val unflatten 't [n] [m] : (xs: [n * m]t) -> [n][m]t
val transpose 't [n] [m] : (a: [n][m]t) -> [m][n]t
val reverse 't [n] : (x: [n]t) -> [n]t
val rotate 't [n] : (r: i64) -> (a: [n]t) -> *[n]t
val iota : (n: i64) -> *[n]i64
val replicate 't : (n: i64) -> (x: t) -> *[n]t
val length 't [n] : (xs: [n]t) -> i64
val copy '~t : (a: t) -> *t
val manifest 't : (a: t) -> *t
val opaque 't : (x: t) -> t
val trace 't : (x: t) -> t
val break 't : (x: t) -> t
val jvp2 'a 'b : (f: a -> b) -> (x: a) -> (x': a) -> (b, b)
val vjp2 'a 'b : (f: a -> b) -> (x: a) -> (y': b) -> (b, a)
val with_vjp 'a 'b : (f: a -> b) -> (f': b -> b -> a) -> (x: a) -> b
val segment 't [n] [m] : (ls: [n]i64) -> (xs: [m]t) -> [n][..]t
val flatmap 'a 'b 'c [n] : (f: a -> ?[k].([k]b, c)) -> (as: [n]a) -> ?[m].([n]i64, [m]bool, [n]i64, [m]b, [n]c)

-- Functions.

def (|>) '^a '^b (x: a) (f: a -> b) : b = f x
def (<|) '^a '^b (f: a -> b) (x: a) : b = f x
def (>->) '^a '^b '^c (first: a -> b) (second: b -> c) (x: a) : c = second (first x)
def (<-<) '^a '^b '^c (second: b -> c) (first: a -> b) (x: a) : c = second (first x)
def id '^a (x: a) : a = x
def const '^a '^b (x: a) (_: b) : a = x
def flip '^a '^b '^c (f: a -> b -> c) (y: b) (x: a) : c = f x y
def curry '^a '^b '^c (f: (a, b) -> c) (x: a) (y: b) : c = f (x, y)
def uncurry '^a '^b '^c (f: a -> b -> c) (x: a, y: b) : c = f x y
def iterate 'a (times: i32) (f: a -> a) (x: a) : a = loop y = x for _i < times do f y
def iterate_while 'a (go: a -> bool) (f: a -> a) (x: a) : a = loop y = x while go y do f y
def iterate_until 'a (stop: a -> bool) (f: a -> a) (x: a) : a = loop y = x while !(stop y) do f y

-- Derivatives.

def jvp 'a 'b (f: a -> b) (x: a) (x': a) : b = (jvp2 f x x').1
def vjp 'a 'b (f: a -> b) (x: a) (y': b) : a = (vjp2 f x y').1
def jmp 'a 'b [n] (f: a -> b) (x: a) (xs': [n]a) : [n]b = map (\x' -> (jvp2 f x x').1) xs'
def mjp 'a 'b [n] (f: a -> b) (x: a) (ys': [n]b) : [n]a = map (\y' -> (vjp2 f x y').1) ys'
def with_vjp_tape 'a 'b 'c (f: a -> (c, b)) (f': (c, b) -> a) (x: a) : b =
  (with_vjp f (\(tape, _) (_, y') -> f' (tape, y')) x).1
def jmp2 'a 'b [n] (f: a -> b) (x: a) (xs': [n]a) : (b, [n]b) = (f x, jmp f x xs')
def mjp2 'a 'b [n] (f: a -> b) (x: a) (ys': [n]b) : (b, [n]a) = (f x, mjp f x ys')
-- The product of the Hessian of `f` at `x` with `v`; `one` is 1.
def hvp 'a 't (one: t) (f: a -> t) (x: a) (v: a) : a = jvp (\x -> vjp f x one) x v
-- For each key from 0 to `n - 1` where its entries begin in the second result, which has the entries in the order of their keys.
def entries_by_key [k] (n: i64) (keys: [k]i64) : ([n + 1]i64, [k]i64) =
  let counts = reduce_by_index (replicate (n + 1) 0) (+) 0 (map (+ 1) keys) (replicate k 1)
  let starts = scan (+) 0 counts
  let (_, order) =
    loop (next, order) = (copy starts, replicate k 0) for e < k do
      let at = next[keys[e]]
      in (next with [keys[e]] = at + 1, order with [at] = e)
  in (starts, order)
-- How many colours the columns of a matrix with entries in these rows and columns need, and the colour of each: no two columns of a
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
-- The entries of the Jacobian of `f` at `x` in these rows and columns; all others are 0. `jvp` is taken once for each colour of the columns
-- (`column_colours`); `number` makes 1 of `true`, as `f64.bool`.
def sparse_jacobian 't [n] [m] [k] (number: bool -> t) (f: [n]t -> [m]t) (x: [n]t) (rows: [k]i64) (cols: [k]i64) : [k]t =
  let (count, colours) = column_colours m n rows cols
  let products = jmp f x (map (\c -> map (\colour -> number (colour == c)) colours) (iota count))
  in map2 (\i j -> products[colours[j], i]) rows cols
-- The same with `vjp` for each colour of the rows: for matrices with few rows that have entries in one column.
def sparse_jacobian_by_rows 't [n] [m] [k] (number: bool -> t) (f: [n]t -> [m]t) (x: [n]t) (rows: [k]i64) (cols: [k]i64) : [k]t =
  let (count, colours) = column_colours n m cols rows
  let products = mjp f x (map (\c -> map (\colour -> number (colour == c)) colours) (iota count))
  in map2 (\i j -> products[colours[i], j]) rows cols

-- Several arrays at once.

def zip3 'a 'b 'c [n] (as: [n]a) (bs: [n]b) (cs: [n]c) : *[n](a, b, c) =
  map (\((a, b), c) -> (a, b, c)) (zip (zip as bs) cs)

def zip4 'a 'b 'c 'd [n] (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) : *[n](a, b, c, d) =
  map (\((a, b), (c, d)) -> (a, b, c, d)) (zip (zip as bs) (zip cs ds))

def zip5 'a 'b 'c 'd 'e [n] (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) (es: [n]e) : *[n](a, b, c, d, e) =
  map (\((a, b), ((c, d), e)) -> (a, b, c, d, e)) (zip (zip as bs) (zip (zip cs ds) es))

def unzip3 'a 'b 'c [n] (xs: [n](a, b, c)) : ([n]a, [n]b, [n]c) =
  (map (.0) xs, map (.1) xs, map (.2) xs)

def unzip4 'a 'b 'c 'd [n] (xs: [n](a, b, c, d)) : ([n]a, [n]b, [n]c, [n]d) =
  (map (.0) xs, map (.1) xs, map (.2) xs, map (.3) xs)

def unzip5 'a 'b 'c 'd 'e [n] (xs: [n](a, b, c, d, e)) : ([n]a, [n]b, [n]c, [n]d, [n]e) =
  (map (.0) xs, map (.1) xs, map (.2) xs, map (.3) xs, map (.4) xs)

def map2 'a 'b 'x [n] (f: a -> b -> x) (as: [n]a) (bs: [n]b) : *[n]x =
  map (\(a, b) -> f a b) (zip as bs)

def map3 'a 'b 'c 'x [n] (f: a -> b -> c -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) : *[n]x =
  map (\(a, b, c) -> f a b c) (zip3 as bs cs)

def map4 'a 'b 'c 'd 'x [n] (f: a -> b -> c -> d -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) : *[n]x =
  map (\(a, b, c, d) -> f a b c d) (zip4 as bs cs ds)

def map5 'a 'b 'c 'd 'e 'x [n] (f: a -> b -> c -> d -> e -> x) (as: [n]a) (bs: [n]b) (cs: [n]c) (ds: [n]d) (es: [n]e) : *[n]x =
  map (\(a, b, c, d, e) -> f a b c d e) (zip5 as bs cs ds es)

-- Reductions, scans, searches.

def all 'a [n] (p: a -> bool) (as: [n]a) : bool = reduce_comm (&&) true (map p as)
def any 'a [n] (p: a -> bool) (as: [n]a) : bool = reduce_comm (||) false (map p as)
def and [n] (bs: [n]bool) : bool = reduce_comm (&&) true bs
def or [n] (bs: [n]bool) : bool = reduce_comm (||) false bs
def foldl 'a 'b [n] (f: a -> b -> a) (start: a) (bs: [n]b) : a = loop acc = start for b in bs do f acc b
def foldr 'a 'b [n] (f: b -> a -> a) (start: a) (bs: [n]b) : a = loop acc = start for b in reverse bs do f b acc

def exscan 'a [n] (op: a -> a -> a) (ne: a) (as: [n]a) : *[n]a =
  let sums = scan op ne as
  in map (\i -> if i == 0 then ne else sums[i - 1]) (iota n)

def spread 't [n] (k: i64) (x: t) (is: [n]i64) (vs: [n]t) : *[k]t =
  scatter (replicate k x) is vs

def partition2 'a [n] (p: a -> bool) (q: a -> bool) (as: [n]a) : ?[k][l].([k]a, [l]a, [n - k - l]a) =
  let (first, rest) = partition p as
  let (second, third) = partition q rest
  in (first, second, third)

def flatmap' 'a 'b [n] (f: a -> ?[k].[k]b) (as: [n]a) : ?[m].([n]i64, [m]bool, [n]i64, [m]b) =
  let (lengths, flags, offsets, elements, _) = flatmap (\x -> (f x, ())) as
  in (lengths, flags, offsets, elements)

-- Functions of chunks: of one 8192nd of the elements each, but of 16 at least, and what is left.

def stream_map 'a 'b [n] (f: (k: i64) -> [k]a -> [k]b) (as: [n]a) : *[n]b =
  let c = i64.max 16 (n / 8192)
  let m = n / c
  let r = n - m * c
  let whole = map (\i -> f c (as[i * c:i * c + c] :> [c]a)) (iota m)
  in (flatten whole ++ f r (as[m * c:] :> [r]a)) :> *[n]b

def stream_red 'a 'b [n] (op: b -> b -> b) (f: (k: i64) -> [k]a -> b) (as: [n]a) : b =
  let c = i64.max 16 (n / 8192)
  let m = n / c
  let r = n - m * c
  let ne = f 0 (as[:0] :> [0]a)
  let whole = reduce op ne (map (\i -> f c (as[i * c:i * c + c] :> [c]a)) (iota m))
  in if r == 0 then whole else op whole (f r (as[m * c:] :> [r]a))

-- One chunk after another: each begins with what the one before has left.
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

def null 't [n] (_: [n]t) : bool = n == 0
def head 't [n] (xs: [n]t) : t = xs[0]
def last 't [n] (xs: [n]t) : t = xs[n - 1]
def tail 't [n] (xs: [n]t) : [n - 1]t = xs[1:]
def init 't [n] (xs: [n]t) : [n - 1]t = xs[:n - 1]
def take 't [n] (k: i64) (xs: [n]t) : [k]t = xs[:k]
def drop 't [n] (k: i64) (xs: [n]t) : [n - k]t = xs[k:]
def split 't [n] [m] (xs: [n + m]t) : ([n]t, [m]t) = (xs[:n], xs[n:] :> [m]t)
def sized 't [m] (n: i64) (xs: [m]t) : [n]t = xs :> [n]t
def lengths 't [n] (xss: [n][..]t) : *[n]i64 = map length xss
def indices 't [n] (_: [n]t) : *[n]i64 = iota n
def rep 't [n] (x: t) : *[n]t = replicate n x
def tabulate 'a (n: i64) (f: i64 -> a) : *[n]a = map f (iota n)

def tabulate_2d 'a (n: i64) (m: i64) (f: i64 -> i64 -> a) : *[n][m]a =
  map (\i -> map (f i) (iota m)) (iota n)

def tabulate_3d 'a (n: i64) (m: i64) (o: i64) (f: i64 -> i64 -> i64 -> a) : *[n][m][o]a =
  map (\i -> map (\j -> map (f i j) (iota o)) (iota m)) (iota n)

def flatten_3d 't [n] [m] [l] (xs: [n][m][l]t) : [n * m * l]t = flatten (flatten xs)
def flatten_4d 't [n] [m] [l] [k] (xs: [n][m][l][k]t) : [n * m * l * k]t = flatten (flatten (flatten xs))

def unflatten_3d 't [n] [m] [l] (xs: [n * m * l]t) : [n][m][l]t = unflatten (unflatten xs)
def unflatten_4d 't [n] [m] [l] [k] (xs: [n * m * l * k]t) : [n][m][l][k]t = unflatten (unflatten (unflatten xs))

-- Scalars.

def not (x: bool) : bool = !x
def r32 (x: i32) : f32 = f32.i32 x
def t32 (x: f32) : i32 = i32.f32 x
def r64 (x: i32) : f64 = f64.i32 x
def t64 (x: f64) : i32 = i32.f64 x

-- The module types of the numeric modules.

module type from_prim = {
  type t
  val i8 : i8 -> t
  val i16 : i16 -> t
  val i32 : i32 -> t
  val i64 : i64 -> t
  val u8 : u8 -> t
  val u16 : u16 -> t
  val u32 : u32 -> t
  val u64 : u64 -> t
  val f16 : f16 -> t
  val f32 : f32 -> t
  val f64 : f64 -> t
  val bool : bool -> t
}

module type numeric = {
  include from_prim
  val (+) : t -> t -> t
  val (-) : t -> t -> t
  val (*) : t -> t -> t
  val (/) : t -> t -> t
  val (%) : t -> t -> t
  val (**) : t -> t -> t
  val (==) : t -> t -> bool
  val (!=) : t -> t -> bool
  val (<) : t -> t -> bool
  val (<=) : t -> t -> bool
  val (>) : t -> t -> bool
  val (>=) : t -> t -> bool
  val to_i64 : t -> i64
  val neg : t -> t
  val abs : t -> t
  val sgn : t -> t
  val min : t -> t -> t
  val max : t -> t -> t
  val lowest : t
  val highest : t
  val sum [n] : [n]t -> t
  val product [n] : [n]t -> t
  val minimum [n] : [n]t -> t
  val maximum [n] : [n]t -> t
}

module type integral = {
  include numeric
  val (//) : t -> t -> t
  val (%%) : t -> t -> t
  val (&) : t -> t -> t
  val (|) : t -> t -> t
  val (^) : t -> t -> t
  val (<<) : t -> t -> t
  val (>>) : t -> t -> t
  val (>>>) : t -> t -> t
  val not : t -> t
  val num_bits : i32
  val get_bit : i32 -> t -> i32
  val set_bit : i32 -> t -> i32 -> t
  val popc : t -> i32
  val clz : t -> i32
  val ctz : t -> i32
  val mul_hi : (x: t) -> (y: t) -> t
  val mad_hi : (a: t) -> (b: t) -> (c: t) -> t
}

module type real = {
  include numeric
  val from_fraction : i64 -> i64 -> t
  val to_f64 : t -> f64
  val recip : t -> t
  val sqrt : t -> t
  val rsqrt : t -> t
  val cbrt : t -> t
  val exp : t -> t
  val log : t -> t
  val log2 : t -> t
  val log10 : t -> t
  val log1p : t -> t
  val sin : t -> t
  val cos : t -> t
  val tan : t -> t
  val sinpi : t -> t
  val cospi : t -> t
  val tanpi : t -> t
  val asin : t -> t
  val acos : t -> t
  val atan : t -> t
  val asinpi : t -> t
  val acospi : t -> t
  val atanpi : t -> t
  val atan2 : t -> t -> t
  val atan2pi : t -> t -> t
  val sinh : t -> t
  val cosh : t -> t
  val tanh : t -> t
  val asinh : t -> t
  val acosh : t -> t
  val atanh : t -> t
  val hypot : t -> t -> t
  val gamma : t -> t
  val lgamma : t -> t
  val erf : t -> t
  val erfc : t -> t
  val lerp : t -> t -> t -> t
  val ceil : t -> t
  val floor : t -> t
  val trunc : t -> t
  val round : t -> t
  val mad : (a: t) -> (b: t) -> (c: t) -> t
  val fma : (a: t) -> (b: t) -> (c: t) -> t
  val isinf : t -> bool
  val isnan : t -> bool
  val inf : t
  val nan : t
  val pi : t
  val e : t
}

module type float = {
  include real
  type int_t
  val from_bits : int_t -> t
  val to_bits : t -> int_t
  val num_bits : i32
  val get_bit : i32 -> t -> i32
  val set_bit : i32 -> t -> i32 -> t
  val epsilon : t
  val nextafter : (x: t) -> (y: t) -> t
  val ldexp : t -> i32 -> t
  val copysign : (x: t) -> (y: t) -> t
}
