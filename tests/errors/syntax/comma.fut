-- The components of a tuple are separated by one comma each.
def f (x: i64) = (x, , x)
--                   ^ error[E0102]: expected an expression or `)`, found `,`
