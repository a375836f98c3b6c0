-- Prices of European options by the Black-Scholes formula.
-- ==
-- entry: main
-- input { [100f32, 42f32] [100f32, 40f32] [1f32, 0.5f32] 0.05f32 0.2f32 }
-- output { [10.450584f32, 4.0816493f32] [5.573526f32, 1.094049f32] }
-- input { empty([0]f32) empty([0]f32) empty([0]f32) 0.05f32 0.2f32 } output { empty([0]f32) empty([0]f32) }

-- The distribution function of the normal distribution, after Abramowitz and Stegun 26.2.17.
let normal (d: f32) : f32 =
  let k = 1f32 / (1f32 + 0.2316419f32 * f32.abs d)
  let poly =
    k * (0.31938153f32 + k * (-0.356563782f32 + k * (1.781477937f32 + k * (-1.821255978f32 + k * 1.330274429f32))))
  let tail = 0.39894228f32 * f32.exp (-0.5f32 * d * d) * poly
  in if d > 0 then 1f32 - tail else tail

let price (rate: f32) (volatility: f32) (spot: f32) (strike: f32) (years: f32) : (f32, f32) =
  let deviation = volatility * f32.sqrt years
  let d1 = (f32.log (spot / strike) + (rate + 0.5f32 * volatility * volatility) * years) / deviation
  let d2 = d1 - deviation
  let discounted = strike * f32.exp (-rate * years)
  let call = spot * normal d1 - discounted * normal d2
  in (call, call + discounted - spot)

-- Calls and puts.
entry main [n] (spots: [n]f32) (strikes: [n]f32) (years: [n]f32) (rate: f32) (volatility: f32) : ([n]f32, [n]f32) =
  unzip (map3 (price rate volatility) spots strikes years)

-- A whole surface of prices, summed up so that only one number comes back.
-- ==
-- entry: surface
-- input { 10i64 7i64 } auto output
-- compiled input { 16000i64 4000i64 }
entry surface (n: i64) (m: i64) : f64 =
  let row (i: i64) : f64 =
    reduce (+) 0 (map (\j ->
      let spot = 50f32 + 100f32 * f32.i64 i / f32.i64 n
      let years = 0.1f32 + 3f32 * f32.i64 j / f32.i64 m
      in f64.f32 (price 0.03f32 0.25f32 spot 100f32 years).0) (iota m))
  in reduce (+) 0 (map row (iota n)) / f64.i64 (n * m)
