-- Accumulators stay inside of the program.
entry main [n] (a: *intrinsics.acc ([n]i64)) = intrinsics.acc_write a 0 1
--    ^^^^ error[E0312]: an entry point cannot take or return accumulators
