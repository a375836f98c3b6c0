-- Only a function can be applied.
def nonsense (x: i32) : i32 = x x
--                              ^ error[E0301]: this is applied, but its type is `i32`, which is no function
--                            ~ the function
-- = after 0 arguments the type is `i32`
