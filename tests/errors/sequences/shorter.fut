-- The pairs end where the numbers do, and chunks of the two are of different sizes.
entry main (s: seq i32) : (i32, i32) =
  (seq.fold (+) 0 s, seq.fold (\a (x, i) -> a + x * i32.i64 i) 0 (seq.zip s (seq.produce 10 id)))
--                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0312]: the sequence `s` would be gone through more than once
-- = a parameter is read only once: its consumers go through it together if none needs the result of another, and not in a loop or inside of parallel code, nor beside one that ends after a number of elements known before; `seq.to_array` keeps all of it
