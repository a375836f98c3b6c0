def f (s: seq (seq i32)) : i64 = seq.length s
--                                   ^^^^^^ error[E0305]: `length` cannot be used with a value of type `seq i32`
-- = a sequence is gone through, and is no value that could be an element of another or of an array
