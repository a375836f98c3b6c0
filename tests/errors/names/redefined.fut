-- A name is defined once in a file.
def f (x: i64) : i64 = x
--  ~ first defined here
def f (x: i64) : i64 = x + 1
--  ^ error[E0202]: `f` is defined twice
