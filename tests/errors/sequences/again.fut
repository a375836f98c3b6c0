entry main (n: i64) (s: seq i32) : i32 = loop a = 0 for _i < n do seq.fold (+) a s
--                                                                ^^^^^^^^^^^^^^^^ error[E0312]: the sequence `s` would be gone through more than once
-- = a parameter is read only once: its consumers go through it together if none needs the result of another, and not in a loop or inside of parallel code, nor beside one that ends after a number of elements known before; `seq.to_array` keeps all of it
