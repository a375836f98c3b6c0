-- Two consumers go through it together, the third one needs what they found.
entry main (s: seq f32) : (f32, f32) =
  let mean = seq.reduce (+) 0 s / f32.i64 (seq.length s)
  in (mean, seq.reduce (+) 0 (seq.map (\x -> (x - mean) ** 2) s))
--          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0312]: the sequence `s` would be gone through more than once
-- = a parameter is read only once: its consumers go through it together if none needs the result of another, and not in a loop or inside of parallel code, nor beside one that ends after a number of elements known before; `seq.to_array` keeps all of it
