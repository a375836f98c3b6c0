-- An integer literal of any length is a float, but no integer.
def x : u64 = 18446744073709551616
--            ^^^^^^^^^^^^^^^^^^^^ error[E0308]: the literal 18446744073709551616 is out of bounds for `u64`
