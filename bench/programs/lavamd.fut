-- Particles in a cube of boxes, each of which acts upon those of its own box and of the 26 around it by a potential that falls with the
-- square of the distance.
type force = {v: f32, x: f32, y: f32, z: f32}

def none : force = {v = 0, x = 0, y = 0, z = 0}
def add (a: force) (b: force) : force = {v = a.v + b.v, x = a.x + b.x, y = a.y + b.y, z = a.z + b.z}

-- Potentials and forces of `n` particles in each of `b` x `b` x `b` boxes. Places are within the box, in units of its edges.
-- ==
-- input { 1i64 0.5f32 [[0f32, 0.5f32]] [[0f32, 0f32]] [[0f32, 0f32]] [[1f32, 2f32]] } auto output
-- input { 2i64 1f32
--         [[0f32], [0f32], [0f32], [0f32], [0f32], [0f32], [0f32], [0.5f32]]
--         [[0f32], [0f32], [0f32], [0f32], [0f32], [0f32], [0f32], [0.5f32]]
--         [[0f32], [0f32], [0f32], [0f32], [0f32], [0f32], [0f32], [0.5f32]]
--         [[1f32], [1f32], [1f32], [1f32], [1f32], [1f32], [1f32], [1f32]] } auto output
-- compiled random input { 10i64 f32 [1000][100]f32 [1000][100]f32 [1000][100]f32 [1000][100]f32 }
def main [m] [n] (b: i64) (alpha: f32) (xs: [m][n]f32) (ys: [m][n]f32) (zs: [m][n]f32) (charges: [m][n]f32)
                 : ([m][n]f32, [m][n]f32, [m][n]f32, [m][n]f32) =
  let falls = 2 * alpha * alpha
  let act x y z (x', y', z', charge) : force =
    let dx = x - x'
    let dy = y - y'
    let dz = z - z'
    let v = charge * f32.exp (-falls * (dx * dx + dy * dy + dz * dz))
    let f = 2 * falls * v
    in {v, x = f * dx, y = f * dy, z = f * dz}
  let inside i = i >= 0 && i < b
  let on box x y z =
    let (i, j, k) = (box / (b * b), box / b % b, box % b)
    in loop sum = none for around < 27 do
         let (di, dj, dk) = (around / 9 - 1, around / 3 % 3 - 1, around % 3 - 1)
         in if inside (i + di) && inside (j + dj) && inside (k + dk)
            then let other = ((i + di) * b + j + dj) * b + k + dk
                 let act = act (x - f32.i64 di) (y - f32.i64 dj) (z - f32.i64 dk)
                 in add sum (reduce add none (map act (zip4 xs[other] ys[other] zs[other] charges[other])))
            else sum
  let forces = assert (b * b * b == m) (map4 (\box -> map3 (on box)) (iota m) xs ys zs)
  in (map (map (.v)) forces, map (map (.x)) forces, map (map (.y)) forces, map (map (.z)) forces)
