-- A unique result is nobody else's.
def f [n] (xs: [n]i64) : *[n]i64 = xs
--                                 ^^ error[E0405]: the result is declared unique, but may share memory with `xs`, which cannot be consumed
--        ~~~~~~~~~~~~ this parameter
-- = return a copy, `copy` makes one; or make the parameter unique, with `*`
