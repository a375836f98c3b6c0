entry main (n: i64) : i64 = seq.length (seq.produce n (\i -> (+) i))
--                              ^^^^^^ error[E0305]: `length` cannot be used with a value of type `i64 -> i64`
-- = the type parameter does not stand for functions
