-- There is no second accumulator of one array.
def f [n] (a: *intrinsics.acc ([n]i64)) = (copy a, 1i64)
--                                         ^^^^ error[E0305]: `copy` cannot be used with a value of type `acc [n]i64`
-- = the type `acc` is lifted: it may hide functions or sizes
