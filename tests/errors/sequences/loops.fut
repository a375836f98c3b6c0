entry main (n: i64) : i64 = seq.length (loop s = seq.produce n id for i < 3 do seq.map (+ i) s)
--                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0305]: the result of a `loop` cannot be a sequence, but has the type `seq i64`
