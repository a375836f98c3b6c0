-- The mark in the definition of a type does not make a parameter unique.
type row = *[4]f32
--         ^^^^^^^ warning[W0401]: `*` has no effect in the definition of a type
-- = write it where the type is that of a parameter or a result

def clear (r: row) : row = r with [0] = 0
--                         ^^^^^^^^^^^^^^ error[E0402]: `r` is consumed, but it may not be
--        ~~~~~~~~ this parameter
-- = only a parameter of a unique type, which is written with `*`, may be consumed
-- = consume a copy instead: `copy` makes one
