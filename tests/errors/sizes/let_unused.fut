-- A size that `let` binds is one of its pattern.
def f (xs: []i32) : i64 =
  let [n] ys = xs
--     ^ error[E0306]: the size `n` is bound but does not occur in the pattern
  in length ys
