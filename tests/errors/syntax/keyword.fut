-- An expression ends before a keyword that cannot continue it.
def f (x: i64) : i64 = let y = x in then y
--                                  ^^^^ error[E0102]: expected an expression, found the keyword `then`
