-- A lambda may run many times, so it cannot write to an accumulator from outside.
def put [n] (a: *intrinsics.acc ([n]i64)) (i: i64) : intrinsics.acc ([n]i64) =
--          ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ this parameter
  let _xs = map (\j -> let _b = intrinsics.acc_write a j i in j) (iota i)
--                                                   ^ error[E0402]: `a` is consumed, but it may not be
-- = a function or a loop body cannot consume what is bound outside of it
  in intrinsics.acc_write a i 1
