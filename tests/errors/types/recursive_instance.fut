-- A recursive call has the types of the function that it stands in.
def depth 't (x: t) (n: i32) : i32 =
--  ^^^^^ error[E0301]: recursive use of the function: expected `(x: t) -> (n: i32) -> i32`, found `(t, t) -> i32 -> i32`
-- = `(t, t)` and `t` differ
  if n == 0 then 0 else 1 + depth (x, x) (n - 1)
