-- A condition is a truth value.
def sign (x: i32) : i32 = if x then 1 else 0
--                           ^ error[E0301]: condition: expected `bool`, found `i32`
