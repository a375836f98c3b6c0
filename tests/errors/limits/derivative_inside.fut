-- How often a function is differentiated must be known when the program is compiled.
def nth (n: i64) (x: f64) : f64 =
  if n == 0 then x ** 4 else jvp (\y -> nth (n - 1) y) x 1
--                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0901]: not yet supported: a derivative inside of the function that it is the derivative of
entry main (n: i64) (x: f64) = nth n x
