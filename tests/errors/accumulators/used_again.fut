-- An accumulator that was written to is gone; what the write gives is its successor.
def f [n] (xs: *[n]i64) : *[n]i64 =
  intrinsics.scatter_stream xs (\(a: *intrinsics.acc ([n]i64)) (i: i64) ->
                                  let _b = intrinsics.acc_write a i 1
--                                                              ~ `a` is consumed here
                                  in intrinsics.acc_write a i 2)
--                                                        ^ error[E0401]: `a` is used after it has been consumed
-- = a write gives the accumulator for what comes after it: go on with that
                            (iota n)
