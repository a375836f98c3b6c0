-- A size parameter is the size of something.
def f [n] (x: i64) : i64 = x
--     ^ error[E0306]: the size parameter `n` does not occur in any type of the function
