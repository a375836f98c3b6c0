-- Until all is written, nobody reads the array.
def f [n] (xs: *[n]i64) : *[n]i64 =
  intrinsics.scatter_stream xs (\(a: *intrinsics.acc ([n]i64)) (i: i64) -> intrinsics.acc_write a i xs[i]) (iota n)
--                          ^^ error[E0404]: this argument is consumed, but another argument may share memory with it
--                             ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ may share memory with it
-- = both may share memory with `xs`
-- = pass a copy of one of them: `copy` makes one
