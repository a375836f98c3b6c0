-- The example `blackscholes`, prices of n options, k times over.
module example = import "../../examples/blackscholes"

entry main (n: i64) (k: i64) : f32 =
  let spots = map (\i -> 50 + 100 * f32.i64 i / f32.i64 n) (iota n)
  let years = map (\i -> 0.1 + f32.i64 (i % 1000) / 300) (iota n)
  let prices = loop prices = spots for _i < k do
    (example.main prices (replicate n 100) years 0.03 0.25).0
  in prices[n / 2]
