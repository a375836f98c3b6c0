-- An accumulator is always there, or never.
entry main [n] (xs: *[n]i64) : *[n]i64 =
  intrinsics.scatter_stream xs (\(a: *intrinsics.acc ([n]i64)) (i: i64) ->
      let perhaps : (#none | #some (intrinsics.acc ([n]i64))) = if i == 0 then #none else #some a
--                                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0901]: not yet supported: an accumulator that is only there under a condition
      in match perhaps
         case #some b -> b
         case #none -> ???)
--                     ^^^ warning[W0306]: a hole of type `acc [n]i64`
-- = the program fails when it gets here
    (iota n)
