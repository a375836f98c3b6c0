-- An inclusion should not hide a type that the module type has already.
module type sized = {
  type t
  val size : t -> i64
}

module type shown = {
  type t
  val show : t -> []u8
}

module type both = {
  include sized
  include shown
--        ^^^^^ warning[W0202]: this inclusion shadows the type `t`
}
