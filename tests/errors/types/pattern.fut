-- A pattern of `let` must match every value.
def f (x: i64) : i64 =
  let (1, y) = (x, x)
--     ^ error[E0309]: this pattern does not match all values of its type, which is only allowed in `match`
  in y
