-- A function that cannot be recursive may still use an earlier one of its name.
def scale (x: f64) : f64 = 2 * x

module pairs = {
  def scale (x: f64, y: f64) : (f64, f64) = (scale x, scale y)
--    ^^^^^ warning[W0303]: `scale` in its own body means an earlier definition; as a recursive function it would be ill-typed
}
