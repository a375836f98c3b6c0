-- A functional parameter of a recursive function is passed on unchanged.
def repeat (n: i64) (f: i64 -> i64) (x: i64) : i64 =
  if n == 0 then x else repeat (n - 1) (\y -> f (f y)) x
--                                     ^^^^^^^^^^^^^^^ error[E0311]: a recursive call must hand on its functional parameters unchanged
