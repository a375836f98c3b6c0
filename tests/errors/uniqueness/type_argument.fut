-- A mark in the argument of a type does not make a parameter unique.
type held 'a = { value: a }

def clear (h: held (*[]i64)) : []i64 = h.value with [0] = 0
--                                     ^^^^^^^^^^^^^^^^^^^^ error[E0402]: `h` is consumed, but it may not be
--        ~~~~~~~~~~~~~~~~~~ this parameter
-- = only a parameter of a unique type, which is written with `*`, may be consumed
-- = consume a copy instead: `copy` makes one
