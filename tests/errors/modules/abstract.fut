-- An abstract type is known only to its module.
module meter : {
  type t
  val of : f64 -> t
} = {
  type t = f64
  def of (x: f64) : t = x
}

def sum (x: f64) : f64 = x + meter.of x
--                           ^^^^^^^^^^ error[E0301]: argument 2 of `+`: expected `f64`, found `t`
