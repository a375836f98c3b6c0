-- Types must agree.
def f (x: i64) : i64 = if x then 1 else 2
--                        ^ error[E0301]: condition: expected `bool`, found `i64`
