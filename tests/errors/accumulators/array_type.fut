-- Nor is there a type of such arrays.
def f [n] (as: [2]intrinsics.acc ([n]i64)) = length as
--                ^^^^^^^^^^^^^^^^^^^^^^^ error[E0305]: an array cannot have elements of a size-lifted type: they might differ in size
