-- A size that is a complicated expression is not followed.
def f (n: i64) : []i64 = iota (let m = n + 1 in m * m)
--                            ^^^^^^^^^^^^^^^^^^^^^^^^ warning[W0301]: this size expression binds names, so the size of the result is not known
