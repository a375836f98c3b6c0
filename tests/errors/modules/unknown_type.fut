-- Module types have names of their own.
module m = {
  def x = 1i32
}

module n : m = m
--         ^ error[E0201]: unknown module type `m`
