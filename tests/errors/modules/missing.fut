-- A module has all that its module type asks for.
module type shape = {
  val area : f64 -> f64
  val corners : i64
}

module circle : shape = {
--              ^^^^^ error[E0204]: the module does not define the value `corners`
  def area (r: f64) : f64 = f64.pi * r * r
}
