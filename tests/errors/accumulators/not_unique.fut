-- A function that writes says so in its parameter.
def put [n] (a: intrinsics.acc ([n]i64)) (i: i64) : intrinsics.acc ([n]i64) =
--          ~~~~~~~~~~~~~~~~~~~~~~~~~~~~ this parameter
  intrinsics.acc_write a i 1
--                     ^ error[E0402]: `a` is consumed, but it may not be
-- = only a parameter of a unique type, which is written with `*`, may be consumed
