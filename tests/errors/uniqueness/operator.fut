-- An operator may consume its operands too.
def (<+) [n] (xs: *[n]i64) (y: i64) : *[n]i64 = xs with [0] = y

def f [n] (xs: [n]i64) : [n]i64 = xs <+ 3
--                                ^^ error[E0402]: `xs` is consumed, but it may not be
--        ~~~~~~~~~~~~ this parameter
-- = only a parameter of a unique type, which is written with `*`, may be consumed
-- = consume a copy instead: `copy` makes one
