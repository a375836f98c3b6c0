-- The argument of a parametric module has its parameter's module type.
module type monoid = {
  type t
  val zero : t
  val add : t -> t -> t
}

module fold (M: monoid) = {
  def fold [n] (xs: [n]M.t) : M.t = reduce M.add M.zero xs
}

module broken = fold {
--                   ^ error[E0204]: the module does not define the value `add`
  type t = i64
  def zero = 0i64
}
