-- The second colon of a slice is there for the stride.
def even (xs: []i64) : []i64 = xs[0:4:]
--                                    ^ error[E0102]: expected an expression, found `]`
