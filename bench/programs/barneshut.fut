-- The forces among many bodies (Barnes and Hut, in two dimensions) as a recursion over squares. Bodies that are far enough from a square feel
-- what is in it as one body in its centre of mass; the others go on to its four quarters. All squares of one depth are worked on at once.
import "random"

type body = {x: f64, y: f64, mass: f64}
type square = {x: f64, y: f64, size: f64}

def pull (at: (f64, f64)) (b: body) : (f64, f64) =
  let (dx, dy) = (b.x - at.0, b.y - at.1)
  let d = dx * dx + dy * dy + 1e-4
  let f = b.mass / (d * f64.sqrt d)
  in (dx * f, dy * f)

def add (a: (f64, f64)) (b: (f64, f64)) : (f64, f64) = (a.0 + b.0, a.1 + b.1)

def centre [n] (bs: [n]body) : body =
  let mass = f64.sum (map (.mass) bs)
  let along f = f64.sum (map (\(b: body) -> f b * b.mass) bs) / mass
  in {x = along (.x), y = along (.y), mass}

-- What the bodies of a square do to those at some places.
def forces [n] [k] (depth: i32) (s: square) (bs: [n]body) (at: [k](f64, f64)) : [k](f64, f64) =
  if n == 0 || k == 0 then rep (0, 0)
  else
    let c = centre bs
    let is_far (x, y) = (c.x - x) ** 2 + (c.y - y) ** 2 > 4 * s.size * s.size
    let far = map (\p -> n == 1 || depth == 0 || is_far p) at
    let near = map (.1) (filter (\(f, _) -> !f) (zip far (iota k)))
    let half = s.size / 2
    let parts =
      map (\q -> let part = {x = s.x + half * f64.i64 (q % 2), y = s.y + half * f64.i64 (q / 2), size = half}
                 let inside (b: body) = (b.x >= s.x + half) == (q % 2 == 1) && (b.y >= s.y + half) == (q / 2 == 1)
                 in forces (depth - 1) part (filter inside bs) (map (\i -> at[i]) near))
          (iota 4)
    let sums = map (\i -> add (add parts[0, i] parts[1, i]) (add parts[2, i] parts[3, i])) (indices near)
    let all = map2 (\f p -> if f then pull p c else (0, 0)) far at
    in scatter all near sums

-- ==
-- entry: generate
-- input { 2i64 } auto output
entry generate (n: i64) : ([n]f64, [n]f64, [n]f64) =
  let u seed i = f64.f32 (unit seed i)
  let place seed = map (\i -> u seed i * u (seed + 1) (i / 16)) (iota n)
  in (place 1, place 3, map (\i -> u 5 i + 0.1) (iota n))

-- ==
-- input { [0.25, 0.75] [0.5, 0.5] [1.0, 2.0] } auto output
-- input { [0.25, 0.25] [0.5, 0.5] [1.0, 2.0] } output { [0.0, 0.0] [0.0, 0.0] }
-- script input { generate 100i64 } auto output
-- compiled script input { generate 5000i64 }
def main [n] (xs: [n]f64) (ys: [n]f64) (masses: [n]f64) : ([n]f64, [n]f64) =
  let bodies = map3 (\x y mass -> {x, y, mass}) xs ys masses
  in unzip (forces 20 {x = 0, y = 0, size = 1} bodies (zip xs ys))

-- Against all pairs.
-- ==
-- entry: error_of
-- input { 300i64 } output { true }
entry error_of (n: i64) : bool =
  let (xs, ys, masses) = generate n
  let (fx, fy) = main xs ys masses
  let bodies = map3 (\x y mass -> {x, y, mass}) xs ys masses
  let exact = map (\p -> reduce add (0, 0) (map (pull p) bodies)) (zip xs ys)
  let off = map3 (\x y (a, b) -> (x - a) ** 2 + (y - b) ** 2) fx fy exact
  let size = map (\(a, b) -> a * a + b * b) exact
  in f64.sum off < 0.001 * f64.sum size
