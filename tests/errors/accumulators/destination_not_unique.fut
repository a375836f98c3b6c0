-- What is written to is consumed.
def f [n] (xs: [n]i64) : *[n]i64 =
--        ~~~~~~~~~~~~ this parameter
  intrinsics.hist_stream xs (+) 0 (\(a: *intrinsics.acc ([n]i64)) (i: i64) -> intrinsics.acc_write a i 1) (iota n)
--                       ^^ error[E0402]: `xs` is consumed, but it may not be
-- = only a parameter of a unique type, which is written with `*`, may be consumed
-- = consume a copy instead: `copy` makes one
