-- Only an abstract type can be made known by `with`.
module type shape = {
  type t = f64
}

module square : shape with t = f32 = {
--                         ^ error[E0204]: the type `t` is not abstract in the module type
  type t = f32
}
