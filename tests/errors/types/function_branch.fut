-- A branch cannot choose between functions.
def choose (b: bool) = if b then \(x: i64) -> x else \(x: i64) -> x + 1
--                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0305]: the result of an `if` cannot be a function, but has the type `(x: i64) -> i64`
