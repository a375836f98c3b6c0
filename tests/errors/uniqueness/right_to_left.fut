-- Arguments are evaluated from the last to the first.
def both (n: i64) (xs: *[]i64) : i64 = n + xs[0]

def f (xs: *[]i64) : i64 = both (length xs) xs
--                                      ^^ error[E0401]: `xs` is used after it has been consumed
--                                          ~~ `xs` is consumed here
-- = consume a copy instead: `copy` makes one
