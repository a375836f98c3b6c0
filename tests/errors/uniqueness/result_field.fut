-- A part of a parameter is not unique either.
def f (r: { xs: []i64, n: i64 }) : *[]i64 = r.xs
--                                          ^^^^ error[E0405]: the result is declared unique, but may share memory with `r`, which cannot be consumed
--    ~~~~~~~~~~~~~~~~~~~~~~~~~~ this parameter
-- = return a copy, `copy` makes one; or make the parameter unique, with `*`
