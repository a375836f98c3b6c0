-- Functions that are called with vectors: of several results, of numbers of different widths, that call others, choose, go through loops and may
-- fail; what is left of a row is done for one point at a time.
#[noinline]
def wave (x: f32) (y: f32) : (f32, f32) = (f32.sin x * f32.exp (-y * y), if x < y then f32.cos (x - y) + f32.exp x else x)

-- ==
-- entry: twice
-- random input { [1000]f32 [1000]f32 } auto output
-- random input { [37]f32 [37]f32 } auto output
-- random input { [3]f32 [3]f32 } auto output
-- input { empty([0]f32) empty([0]f32) } auto output
entry twice [n] (xs: [n]f32) (ys: [n]f32) : ([n]f32, [n]f32) =
  unzip (map2 (\x y -> let (a, b) = wave x y
                       let (c, d) = wave b 0.5
                       in (a + c, b * d)) xs ys)

-- ==
-- entry: loops
-- random input { 5i32 [1000]f32 } auto output
-- random input { 0i32 [40]f32 } auto output
entry loops [n] (steps: i32) (xs: [n]f32) : ([n]f32, [n]f32) =
  unzip (map (\x -> loop (x, y) = (x, 1) for _i < steps do wave (x * 0.5) y) xs)

#[noinline]
def mixed (x: f64) (k: i32) (l: i64) : (f64, i64, i32) =
  (f64.i32 k + f64.sqrt (f64.abs x), l * 5 + i64.i32 k, if l % 4 == 0 then k * 3 else k - 1)

#[noinline]
def outer (x: f64) (k: i32) (l: i64) : (f64, i32) =
  let (y, m, j) = mixed x (k + 1) (l - 1)
  let (z, _, i) = mixed (y * 0.25) j m
  in (loop z for _i < 3i32 do z * 0.5 + y, i)

-- ==
-- entry: widths
-- random input { [500]f64 [500]i32 [500]i64 } auto output
-- random input { [5]f64 [5]i32 [5]i64 } auto output
entry widths [n] (xs: [n]f64) (ks: [n]i32) (ls: [n]i64) : ([n]f64, [n]i32) = unzip (map3 outer xs ks ls)

#[noinline]
def checked (x: i32) (y: i32) : i32 = assert (x < 90) (x * 2 + y)

-- ==
-- entry: fails
-- input { [1i32, 2i32, 3i32, 4i32, 5i32, 6i32, 7i32, 8i32, 9i32, 10i32, 11i32, 12i32, 13i32, 14i32, 15i32, 16i32, 17i32, 18i32] }
-- output { [3i32, 5i32, 7i32, 9i32, 11i32, 13i32, 15i32, 17i32, 19i32, 21i32, 23i32, 25i32, 27i32, 29i32, 31i32, 33i32, 35i32, 37i32] }
-- input { [1i32, 2i32, 3i32, 4i32, 5i32, 6i32, 7i32, 8i32, 9i32, 10i32, 91i32, 12i32, 13i32, 14i32, 15i32, 16i32, 17i32, 18i32] }
-- error: Assertion is false
entry fails [n] (xs: [n]i32) : [n]i32 = map (\x -> checked x 1) xs
