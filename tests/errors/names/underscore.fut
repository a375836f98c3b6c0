-- A name that begins with an underscore says that it is not used.
def f (_x: i64) : i64 = _x
--                      ^^ error[E0201]: `_x` is used, but its name begins with an underscore
-- = an underscore says that a variable is not used
-- = rename the variable
