entry main (n: i64) : []i64 = map (\s -> seq.length s) [seq.produce n id, seq.produce 2 id]
--                            ^^^ error[E0305]: `map` cannot be used with a value of type `seq i64`
-- = a sequence is gone through, and is no value that could be an element of another or of an array
