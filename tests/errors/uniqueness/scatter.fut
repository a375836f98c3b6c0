-- `scatter` writes into its first argument.
def f [n] (xs: [n]i64) : [n]i64 = scatter xs [0] [1]
--                                        ^^ error[E0402]: `xs` is consumed, but it may not be
--        ~~~~~~~~~~~~ this parameter
-- = only a parameter of a unique type, which is written with `*`, may be consumed
-- = consume a copy instead: `copy` makes one
