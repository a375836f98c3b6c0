-- An operator stands between two operands.
def f (x: i64) : i64 = x + * 2
--                         ^ error[E0102]: expected an expression, found `*`
