-- A function value that holds an array to be consumed could be called twice.
def put [n] (xs: *[n]i64) (i: i64) : *[n]i64 = xs with [i] = 0

def f (n: i64) : ([]i64, []i64) =
  let clear = put (iota n)
--            ^^^^^^^^^^^^ error[E0407]: this function value holds an array that each call would consume
-- = a function may be called several times, but what it holds can be consumed only once
-- = pass all arguments at once, or write a lambda that makes a copy
  in (clear 1, clear 2)
