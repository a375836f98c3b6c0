-- An index names at least one position.
def first (xs: []i64) : i64 = xs[]
--                               ^ error[E0102]: expected an expression or `:`, found `]`
