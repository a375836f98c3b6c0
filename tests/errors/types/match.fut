-- A `match` has a case for every value.
type shape = #circle f64 | #square f64 | #point

def area (s: shape) : f64 =
  match s
--^^^^^^^ error[E0310]: unmatched values: no case of this `match` fits `#point`
-- = add `case #point -> ..`, or a last `case _ -> ..`
  case #circle r -> f64.pi * r * r
  case #square a -> a * a
