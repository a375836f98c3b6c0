-- Every bracket has its partner.
def f (x: i64) : i64 = (x + 1
--                     ^ error[E0104]: `(` is never closed

def g (x: i64) : i64 = x
--                      ~ the file ends without `)`
