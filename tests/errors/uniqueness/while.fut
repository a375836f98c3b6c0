-- The condition of a loop looks at the parameters, it does not consume them.
def empty (xs: *[]i64) : bool = length (xs with [0] = 1) > 0

def f (xs: *[]i64) : []i64 = loop ys = xs while empty ys do ys
--                                                    ^^ error[E0402]: `ys` is consumed, but it may not be
--                                ~~ bound here
-- = a function or a loop body cannot consume what is bound outside of it
-- = consume a copy instead: `copy` makes one
