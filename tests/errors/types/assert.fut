-- What is asserted is a truth value.
def half (x: i32) : i32 = assert (x % 2) (x / 2)
--                               ^^^^^^^ error[E0301]: asserted condition: expected `bool`, found `i32`
