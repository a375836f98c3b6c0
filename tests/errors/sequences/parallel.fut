entry main (n: i64) (s: seq i32) : []i32 = map (\i -> seq.fold (+) (i32.i64 i) s) (iota n)
--                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0312]: the sequence `s` would be gone through more than once
-- = a parameter is read only once: what is needed of it must be computed in one go, for example as tuples by one `seq.fold`; `seq.to_array` keeps all of it
