-- A function cannot be applied to more arguments than it takes.
def f (x: i64) : i64 = x

def g : i64 = f 1 2
--                ^ error[E0301]: this function takes 1 argument, but is given more
--            ~ the function
-- = after 1 arguments the type is `i64`
