-- A number without a suffix may not be less than its type has numbers.
def x (y: u8) = y + -1
--                  ^^ error[E0308]: the literal -1 is out of bounds for `u8`
