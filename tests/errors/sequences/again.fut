entry main (n: i64) (s: seq i32) : i32 = loop a = 0 for _i < n do seq.fold (+) a s
--                                                                ^^^^^^^^^^^^^^^^ error[E0312]: the sequence `s` would be gone through more than once
-- = a parameter is read only once: what is needed of it must be computed in one go, for example as tuples by one `seq.fold`; `seq.to_array` keeps all of it
