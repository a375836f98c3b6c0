-- A parameter that is a sequence can be read once: a consumer that needs the result of another comes too late.
entry main (s: seq i32) : i32 =
  let n = seq.length s
  in seq.fold (\a x -> a + x * i32.i64 n) 0 s
--   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0312]: the sequence `s` would be gone through more than once
-- = a parameter is read only once: its consumers go through it together if none needs the result of another, and not in a loop or inside of parallel code, nor beside one that ends after a number of elements known before; `seq.to_array` keeps all of it
