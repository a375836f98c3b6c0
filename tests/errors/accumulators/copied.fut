-- There is no second accumulator of one array.
def f [n] (a: *intrinsics.acc ([n]i64)) = (copy a, 1i64)
--                                         ^^^^ error[E0305]: `copy` cannot be used with a value of type `acc [n]i64`
-- = an accumulator stands for the one array that it updates, and has no copy
