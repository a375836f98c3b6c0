-- A tuple that is consumed cannot hold one array twice.
def f (xs: *[]i64, ys: *[]i64) : i64 = xs[0] + ys[0]

def g (xs: *[]i64) : i64 = f (xs, xs)
--                           ^^^^^^^^ error[E0404]: parts of this argument, which is consumed, may share memory with each other
-- = several parts may share memory with `xs`
-- = make a copy of one of the parts: `copy` makes one
