-- Two unique results do not share memory.
def f [n] (xs: *[n]i64) : (*[n]i64, *[n]i64) = (xs, xs)
--                                             ^^^^^^^^ error[E0405]: a unique part of the result may share memory with another part
-- = both may share memory with `xs`
-- = return a copy of one of them: `copy` makes one
