-- The example `nbody`, k steps of n bodies.
module example = import "../../examples/nbody"

entry main (n: i64) (k: i64) : f32 =
  (example.main n (i32.i64 k)).0[n / 2]
