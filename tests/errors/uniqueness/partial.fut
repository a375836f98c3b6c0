-- A function value may be called often, what it holds can be consumed once.
def put [n] (xs: *[n]i64) (i: i64) : *[n]i64 = xs with [i] = 0

def f [n] (xs: *[n]i64) : [n]i64 =
  let clear = put xs
--            ^^^^^^ error[E0407]: this function value consumes `xs` when it is made
--                ~~ `xs` is consumed here
-- = a function may be called several times, but what it holds can be consumed only once
-- = pass all arguments at once, or write a lambda that makes a copy
  in clear 1
