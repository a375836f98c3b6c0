-- A definition that is named as a module may use that module in its own body.
-- ==
-- entry: u32
-- input { 3.7f32 } output { 3u32 }

entry u32 (x: f32) = u32.f32 x

def i64 x = (i64.<<) x 2

-- ==
-- entry: shifted
-- input { 5i64 } output { 20i64 }

entry shifted (x: i64) : i64 = i64 x

-- ==
-- entry: f64
-- input { [1.5f64, 2.5f64] } output { 4f64 }

entry f64 (xs: []f64) : f64 = f64.(sum (map (\x -> max x (0.5 * 2)) xs))

open {
  module sign = {
    def f (x: i32) = x > 0
    module deep = {def g (x: i32) = !(f x)}
  }
}

-- ==
-- entry: sign
-- input { 1 } output { true false }

entry sign (x: i32) = (sign.f x, sign.deep.g x)

-- A recursive function is found by its name where no module is meant.
-- ==
-- entry: i8
-- input { 5i8 } output { 15i8 }

entry i8 (x: i8) : i8 = if x == 0 then 0 else x + i8 (x - i8.i32 1)
