-- A literal must fit its type.
def x : u8 = 256
--           ^^^ error[E0308]: the literal 256 is out of bounds for `u8`
