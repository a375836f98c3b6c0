-- A caller may not come to own a top-level array.
def table : [3]i64 = [1, 2, 3]
--  ~~~~~ defined here

def f (_: i64) : [3]i64 = table
--                        ^^^^^ error[E0405]: the result of a function may share memory with `table`, which is defined outside of it
-- = return a copy: `copy` makes one
