-- A hole is no accumulator.
entry main [n] (xs: *[n]i64) : *[n]i64 =
  intrinsics.scatter_stream xs (\(a: *intrinsics.acc ([n]i64)) (i: i64) -> if i == 0 then ??? else a) (iota n)
--                                                                                        ^^^ warning[W0306]: a hole of type `acc [n]i64`
-- = the program fails when it gets here
--                                                                         ^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0901]: not yet supported: an accumulator that is only there under a condition
