-- A function without a result type says by its body whether the result is its own.
def own (n: i64) = iota n

def front (xs: []i64) = xs[:1]

def f (n: i64) : []i64 = own n with [0] = 1

def g (xs: []i64) : []i64 = front xs with [0] = 1
--                          ^^^^^^^^^^^^^^^^^^^^^ error[E0402]: `xs` is consumed, but it may not be
--    ~~~~~~~~~~~ this parameter
-- = only a parameter of a unique type, which is written with `*`, may be consumed
-- = consume a copy instead: `copy` makes one
