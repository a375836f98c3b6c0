-- A top-level value is there for everyone.
def table : [3]i64 = [1, 2, 3]
--  ~~~~~ defined here

def f (i: i64) : [3]i64 = table with [i] = 0
--                        ^^^^^^^^^^^^^^^^^^ error[E0402]: `table` is consumed, but it may not be
-- = a top-level definition is never consumed
-- = consume a copy instead: `copy` makes one
