-- No rule for reverse mode.
entry main [n] (xs: [n]f64) (is: [n]i64) : [n]f64 =
  vjp (\ys -> reduce_by_index (replicate n 0) f64.max f64.lowest is ys) xs xs
--^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0901]: not yet supported: a gradient (`vjp`) through a histogram whose operator is not addition on this target; the interpreter computes it
-- = that is in line 3
-- = run the program with `--target=interp`
