-- An abstract type that can be put in arrays has no unknown sizes.
module m : {
--         ^ error[E0204]: the module type wants an ordinary type `t`
-- = the module defines it as `?[d].[d]i32`, which is more lifted
  type t
  val empty : t
} = {
  type~ t = []i32
  def empty : t = []
}
