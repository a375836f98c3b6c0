-- The sizes of parameters in a module type have names.
module type summing = {
  val sum : []i32 -> i32
--          ^^ error[E0305]: the parameter of a function type needs a size here
-- = add a size parameter, as in `[n]`
}
