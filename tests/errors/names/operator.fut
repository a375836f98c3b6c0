-- `&&` and `||` cannot be defined anew.
def (&&) (x: bool) (y: bool) : bool = if x then y else false
--   ^^ error[E0202]: `&&` cannot be defined anew: it does not always evaluate its second operand
