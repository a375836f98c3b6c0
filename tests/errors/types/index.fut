-- Only an array can be indexed.
def digit (x: i32) : i32 = x[0]
--                         ^ error[E0301]: indexed value: expected `[]_`, found `i32`
