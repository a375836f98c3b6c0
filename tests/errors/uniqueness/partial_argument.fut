-- What is given for a functional parameter is a function value too.
def put [n] (xs: *[n]i64) (i: i64) : i64 = (xs with [i] = 0)[0]

def f [n] (xs: *[n]i64) : []i64 = map (put xs) (iota n)
--                                    ^^^^^^^^ error[E0407]: this functional argument consumes `xs` when it is made
--                                         ~~ `xs` is consumed here
-- = a function may be called several times, but what it holds can be consumed only once
-- = pass all arguments at once, or write a lambda that makes a copy
