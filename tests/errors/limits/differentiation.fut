-- No rule for reverse mode.
def put (a: *intrinsics.acc ([1]f64)) (x: f64) = intrinsics.acc_write a 0 x
entry main [n] (xs: [n]f64) : [n]f64 =
  vjp (\xs -> (intrinsics.hist_stream [1] (*) 1 put xs)[0]) xs 1
--^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0901]: not yet supported: a gradient (`vjp`) through accumulators that do not add on this target; the interpreter computes it
-- = that is in line 4
-- = run the program with `--target=interp`
