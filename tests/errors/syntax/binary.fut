-- A number in base 2 has two digits.
def masked (x: i32) : i32 = x & 0b102
--                              ^^^^^ error[E0105]: `0b102` is no number
-- = a number in base 2 consists of `0` and `1`
