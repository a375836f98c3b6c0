-- A function that consumes its argument cannot stand for one that does not.
module type reader = { val read [n] : [n]i64 -> i64 }

module greedy : reader = {
--              ^^^^^^ error[E0204]: the value `read` of the module has another type than its module type says
-- = the module has `(xs: *[n]i64) -> i64`
-- = the module type says `[n]i64 -> i64`
-- = a function that consumes its argument is used where one that does not is expected
  def read [n] (xs: *[n]i64) : i64 = xs[0]
}
