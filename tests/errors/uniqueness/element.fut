-- A row that a loop goes through is a part of the array.
def f [n] [m] (xss: *[n][m]i64) : i64 =
--            ~~~~~~~~~~~~~~~~~ this parameter
  loop sum = 0 for xs in xss do
    sum + (xs with [0] = 1)[0]
--        ^^^^^^^^^^^^^^^^^ error[E0402]: `xss` is consumed, but it may not be
-- = a function or a loop body cannot consume what is bound outside of it
-- = consume a copy instead: `copy` makes one
