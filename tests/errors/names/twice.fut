-- One name cannot be bound to two parameters.
def f (x: i64) (x: i64) : i64 = x
--              ^ error[E0202]: the parameter `x` is bound twice
