-- The parts of a tuple are all there when it is made: none may consume another.
def f (xs: *[]i64) : ([]i64, []i64) = (xs, xs with [0] = 1)
--                                     ^^ error[E0401]: `xs` is used after it has been consumed
--                                         ~~~~~~~~~~~~~~~ `xs` is consumed here
-- = consume a copy instead: `copy` makes one
