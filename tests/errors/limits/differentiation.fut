-- Derivatives are not computed yet.
def slope (x: f64) : f64 = jvp (\y -> y * y) x 1
--                         ^^^ error[E0901]: automatic differentiation (`jvp`) is not yet supported
