-- A parameter without `*` still belongs to the caller.
def f [n] (xs: [n]i64) : [n]i64 = xs with [0] = 1
--                                ^^^^^^^^^^^^^^^ error[E0402]: `xs` is consumed, but it may not be
--        ~~~~~~~~~~~~ this parameter
-- = only a parameter of a unique type, which is written with `*`, may be consumed
-- = consume a copy instead: `copy` makes one
