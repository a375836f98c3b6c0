-- The example `mandelbrot`, n by n pixels, k pictures.
module example = import "../../examples/mandelbrot"

entry main (n: i64) (k: i64) : i32 =
  loop s = 0 for i < k do s ^ (example.escape n n (1000 + i32.i64 i))[n / 2, n / 3]
