-- A size in a type is not a place to consume something.
def last (xs: *[]i64) : i64 = xs[length xs - 1]

def f [n] (xs: *[n]i64) (ys: [last xs]i64) : i64 = ys[0]
--                                 ^^ error[E0402]: `xs` is consumed, but it may not be
--        ~~~~~~~~~~~~~ this parameter
-- = a function or a loop body cannot consume what is bound outside of it
-- = consume a copy instead: `copy` makes one
