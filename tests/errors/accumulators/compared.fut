-- Nothing can be read of an accumulator.
def f [n] (a: intrinsics.acc ([n]i64)) (b: intrinsics.acc ([n]i64)) : bool = a == b
--                                                                             ^^ error[E0305]: values of type `acc [n]i64` cannot be compared
