-- A module type names each value once.
module type m = {
  val x : i32
--    ~ first specified here
  val x : i64
--    ^ error[E0202]: `x` is specified twice
}
