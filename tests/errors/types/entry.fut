-- An entry point takes and returns data.
entry apply (f: i64 -> i64) (x: i64) : i64 = f x
--    ^^^^^ error[E0312]: an entry point cannot take or return functions
