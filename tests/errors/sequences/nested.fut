def f (s: seq (seq i32)) : i64 = seq.length s
--            ^^^^^^^^^ error[E0305]: a sequence has no elements of the type `seq i32`
-- = a sequence is gone through, and is no value that could be an element of another or of an array
