-- A pattern of a loop must match every value.
def f (n: i32) : i32 = loop 1 = n for _i < n do 1
--                          ^ error[E0309]: this pattern does not match all values of its type, which is only allowed in `match`
