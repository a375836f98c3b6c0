-- Which sequence is gone through is known before the program runs.
entry main (c: bool) : i64 = seq.length (if c then seq.produce 3 id else seq.produce 4 id)
--                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0305]: the result of an `if` cannot be a sequence, but has the type `seq i64`
