-- A name must be defined before it is used.
def double (x: i64) : i64 = 2 * x

def f (x: i64) : i64 = duoble x
--                     ^^^^^^ error[E0201]: unknown name `duoble`
-- = did you mean `double`?
