-- Every size must be known where it is needed.
def zeros [n] : [n]i64 = replicate n 0

def f (_: i64) : i64 = length zeros
--                            ^^^^^ error[E0304]: the size here cannot be inferred: a size parameter
-- = add a type annotation that says the size
