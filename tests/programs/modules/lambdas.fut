-- Parametric modules without a name, parameters after one another, and attributes of specifications.
module type size = {
  #[cheap] val size : i64
}

module type sized = {
  type t
  val all : t -> []t
}

module of_i32 = {
  type t = i32
}

module twice = \(s: size) -> {
  def size = s.size * 2
}

module fill = \(s: size) -> \(e: {type t}) : ({val all : e.t -> []e.t}) -> {
  def all (x: e.t) = replicate s.size x
}

module many (s: size) (e: {type t}) : (sized with t = e.t) = {
  type t = e.t
  module filler = fill s e
  def all = filler.all
}

module three = {
  def size = 3i64
}

module threes = many three of_i32
module sixes = many (twice three) {
  type t = (bool, u8)
}

-- ==
-- input { 4 } output { [4, 4, 4] 6i64 true }
def main (x: i32) =
  let six = sixes.all (true, 'b')
  in (threes.all x, length six, (last six).1 == 'b')
