-- Accumulators are no elements of arrays.
def f [n] (a: *intrinsics.acc ([n]i64)) = [a]
--                                        ^^^ error[E0305]: an array cannot have elements of type `acc [n]i64`
-- = the type `acc` is lifted: it may hide functions or sizes
