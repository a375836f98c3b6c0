entry main (n: i64) : i64 = seq.length (seq.map (\i -> seq.produce i id) (seq.produce n id))
--                              ^^^^^^ error[E0305]: `length` cannot be used with a value of type `seq i64`
-- = a sequence is gone through, and is no value that could be an element of another or of an array
