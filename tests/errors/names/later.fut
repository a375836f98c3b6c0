-- Definitions are in scope in what follows them, not before.
def f (x: i64) : i64 = g x
--                     ^ error[E0201]: unknown name `g`
-- = did you mean `f`?

def g (x: i64) : i64 = x
