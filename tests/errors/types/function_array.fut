-- Arrays hold data, not functions.
def fs = [\(x: i64) -> x, \(x: i64) -> x + 1]
--       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0305]: an array cannot have elements of type `(x: i64) -> i64`
-- = the type parameter does not stand for functions
