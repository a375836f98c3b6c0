-- Only a parametric module can be applied.
module plain = {
  def x = 1i64
}

module twice = plain plain
--             ^^^^^ error[E0205]: this module is not parametric, so it cannot be applied
