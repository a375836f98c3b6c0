-- The rows of `none` would have a size that is computed only later.
def f (xs: []i64) : [][]i64 =
  let none = []
--           ^^ error[E0307]: the type of this empty array is `[0][d]i64`, but its size `d` is not computed before
-- = bind the expression that computes `d` with `let` first
  let some = [filter (> 0) xs]
--                         ~~ `d` is computed here: the result of this call has a size of its own
  in none ++ some
