-- Parametric modules: one and several parameters, curried, applied to numeric modules, with abstract types that carry
-- sizes; each application of one that makes an abstract type makes a new one.
module type monoid = {
  type t
  val zero : t
  val add : t -> t -> t
}

module sum (N: numeric) : monoid with t = N.t = {
  type t = N.t
  def zero = N.i32 0
  def add x y = N.(x + y)
}

module fold (M: monoid) = {
  def fold [n] (xs: [n]M.t) : M.t = reduce M.add M.zero xs
}

module pair (A: monoid) (B: monoid) : monoid with t = (A.t, B.t) = {
  type t = (A.t, B.t)
  def zero = (A.zero, B.zero)
  def add (a: t) (b: t) : t = (A.add a.0 b.0, B.add a.1 b.1)
}

module ints = sum i64
module floats = sum f32
module both = fold (pair ints floats)

-- ==
-- entry: sums
-- input { [1i64, 2i64, 3i64] [0.5f32, 0.25f32, 0.25f32] } output { 6i64 1f32 }
entry sums [n] (xs: [n]i64) (ys: [n]f32) = both.fold (zip xs ys)

-- A functor as a member, and a lambda as a module.
module tools = {
  module twice (M: monoid) = {
    def twice (x: M.t) : M.t = M.add x x
  }
}

module double = \(M: monoid) -> {
  open tools.twice M
  def quadruple (x: M.t) : M.t = twice (twice x)
}

module quad = double (sum u8)

-- ==
-- entry: quadruple
-- input { 3u8 } output { 12u8 }
entry quadruple (x: u8) : u8 = quad.quadruple x

-- A module parameter that is a functor itself.
module type make_sum = (N: numeric) -> monoid with t = N.t
module with_sum (S: make_sum) = fold (S i16)
module shorts = with_sum sum

-- ==
-- entry: higher
-- input { [1i16, 2i16, 4i16] } output { 7i16 }
entry higher (xs: []i16) : i16 = shorts.fold xs

-- An abstract type with a size parameter.
module type vector = {
  type vec [n]
  val from [n] : [n]f32 -> vec [n]
  val dot [n] : vec [n] -> vec [n] -> f32
  val extent [n] : vec [n] -> i64
}

module dense : vector = {
  type vec [n] = [n]f32
  def from [n] (xs: [n]f32) : vec [n] = xs
  def dot [n] (a: vec [n]) (b: vec [n]) : f32 = f32.sum (map2 (*) a b)
  def extent [n] (_: vec [n]) : i64 = n
}

module norm (V: vector) = {
  def squared [n] (xs: [n]f32) : (f32, i64) =
    let v = V.from xs
    in (V.dot v v, V.extent v)
}

module dense_norm = norm dense

-- ==
-- entry: squared
-- input { [3f32, 4f32] } output { 25f32 2i64 }
entry squared (xs: []f32) : (f32, i64) = dense_norm.squared xs
