-- Modules: members of all kinds, nesting, ascription, abstract types, `with`, `include`, `open`, local opens.
module type shape = {
  -- | What a shape is.
  type t

  val area : t -> f64
}

module type scalable = {
  include shape
  val scale : f64 -> t -> t
}

module square : scalable with t = f64 = {
  type t = f64
  def area (side: t) : f64 = side * side
  def scale (by: f64) (side: t) : t = by * side
}

-- Here the type stays abstract: only its own functions make and read it.
module counter : {
  type t
  val zero : t
  val next : t -> t
  val read : t -> i64
} = {
  type t = {count: i64, step: i64}
  def zero : t = {count = 0, step = 2}
  def next (c: t) : t = c with count = c.count + c.step
  def read (c: t) : i64 = c.count
}

module outer = {
  def base = 100i64

  module inner = {
    def above (x: i64) = base + x
    local def hidden = 7i64
    def seen = hidden
  }

  open inner
}

-- ==
-- entry: scaled
-- input { 3f64 2f64 } output { 36f64 }
entry scaled (side: f64) (by: f64) : f64 = square.area (square.scale by side)

-- ==
-- entry: counted
-- input { 5i64 } output { 10i64 }
entry counted (n: i64) : i64 =
  counter.read (loop c = counter.zero for _i < n do counter.next c)

-- ==
-- entry: nested
-- input { 5i64 } output { 105i64 105i64 7i64 100i64 }
entry nested (x: i64) = (outer.inner.above x, outer.above x, outer.seen, outer.(base))

-- A local open brings a module's names into one expression.
-- ==
-- entry: opened
-- input { 2.25f64 } output { 1.5f64 }
entry opened (x: f64) : f64 = f64.(sqrt x)

-- A member may be an operator, and a type or a value may hide a built-in one.
module saturated = {
  type byte = u8
  def (+) (x: byte) (y: byte) : byte = u8.i32 (i32.min 255 (i32.u8 x + i32.u8 y))
  def (<+>) (x: byte) (y: byte) : byte = x + y
}

-- ==
-- entry: operators
-- input { 200u8 100u8 } output { 255u8 255u8 255u8 44u8 }
entry operators (x: u8) (y: u8) =
  (x saturated.+ y, x saturated.<+> y, saturated.(x + y), x + y)
