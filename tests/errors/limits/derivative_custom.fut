-- No rules of one's own yet.
entry main (x: f64) : f64 = with_vjp (\y -> y * y) (\_ d -> d) x
--                          ^^^^^^^^ error[E0901]: automatic differentiation (`with_vjp`) is not yet supported
