-- What runs in parallel cannot show values on every target, and functions never can.
def twice (x: i32) : i32 = #[trace(twice)] (2 * x)
--                         ^^^^^^^^^^^^^^^^^^^^^^^ warning[W0502]: tracing in a parallel operation shows nothing but with `--target=interp`

entry main (xs: []i32) : []i32 =
  let f = #[trace] twice
--                 ^^^^^ warning[W0502]: tracing has no effect: a function is no value that can be shown
  in map f (#[trace(xs)] xs)
