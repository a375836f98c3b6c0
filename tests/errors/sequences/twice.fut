-- A parameter that is a sequence can be read once.
entry main (s: seq i32) : (i32, i64) = (seq.fold (+) 0 s, seq.length s)
--                                                        ^^^^^^^^^^^^ error[E0312]: the sequence `s` would be gone through more than once
-- = a parameter is read only once: what is needed of it must be computed in one go, for example as tuples by one `seq.fold`; `seq.to_array` keeps all of it
