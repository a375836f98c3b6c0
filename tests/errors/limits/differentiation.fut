-- No rule for reverse mode.
entry main (x: f64) (n: i64) : f64 =
  vjp (\x -> f64.sum (loop xs: []f64 = [x] for _i < n do xs ++ [2 * last xs])) x 1
--^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0901]: not yet supported: a gradient (`vjp`) through a loop whose arrays change size on this target; the interpreter computes it
-- = that is in line 3
-- = run the program with `--target=interp`
