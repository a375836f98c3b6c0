-- The accumulator that comes back must be the one that was given.
entry main [n] (xs: *[n]i64) (ys: [n]i64) : *[n]i64 =
  let step (a: *intrinsics.acc ([n]i64)) (i: i64) : intrinsics.acc ([n]i64) =
    let zs = intrinsics.scatter_stream (copy ys) (\(_: *intrinsics.acc ([n]i64)) (_: i64) -> a) [i]
--           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0305]: the function does not return the accumulator that it is given
    in if zs[0] == 0 then a else a
  in intrinsics.scatter_stream xs step (iota n)
