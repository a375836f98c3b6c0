entry main (s: (seq i32, i32)) : i32 = seq.fold (+) s.1 s.0
--    ^^^^ error[E0312]: sequences of an entry point must be parameters of their own, or all of the result
