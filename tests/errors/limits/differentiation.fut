-- Gradients are computed by the interpreter alone.
def slope (x: f64) : f64 = vjp (\y -> y * y) x 1
--                         ^^^^^^^^^^^^^^^^^^^^^ error[E0901]: not yet supported: a gradient (`vjp`) on this target; the interpreter computes it
-- = run the program with `--target=interp`
entry main (x: f64) = slope x
