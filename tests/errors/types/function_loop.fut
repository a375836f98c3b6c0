-- A loop parameter cannot be a function.
def f (n: i64) = loop g = \(x: i64) -> x for _i < n do \(x: i64) -> x + 1
--               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0305]: the result of a `loop` cannot be a function, but has the type `(x: i64) -> i64`
