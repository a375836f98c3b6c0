-- The example `blackscholes`, prices of n options at k rates of interest; all are kept until the next ones are there.
module example = import "../../examples/blackscholes"

entry main (n: i64) (k: i64) : f32 =
  let spots = map (\i -> 50 + 100 * f32.i64 i / f32.i64 n) (iota n)
  let strikes = map (\i -> 100 + f32.i64 (i % 7)) (iota n)
  let years = map (\i -> 0.1 + f32.i64 (i % 1000) / 300) (iota n)
  let prices = loop _prices = spots for i < k do
    (example.main spots strikes years (0.03 + f32.i64 i / 1000) 0.25).0
  in prices[n / 2]
