-- The size of the rows of an empty array must be known before it.
def f (xs: []i32) : bool =
  let a = [] : [][]i32
--        ^^ error[E0307]: the type of this empty array is `[0][d]i32`, but its size `d` is not computed before
-- = bind the expression that computes `d` with `let` first
  let b = [filter (> 0) xs]
--                      ~~ `d` is computed here: the result of this call has a size of its own
  in a[0] == b[0]
