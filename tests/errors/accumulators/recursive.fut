-- What an update does is known only where the function is expanded.
def f [n] (a: *intrinsics.acc ([n]i64)) (i: i64) : *intrinsics.acc ([n]i64) =
  if i == 0 then a else f (intrinsics.acc_write a i i) (i - 1)

entry main [n] (xs: *[n]i64) : *[n]i64 =
  intrinsics.scatter_stream xs (\(a: *intrinsics.acc ([n]i64)) (i: i64) -> f a i) (iota n)
--                                                                         ^^^^^ error[E0901]: not yet supported: an accumulator as an argument of a recursive function
