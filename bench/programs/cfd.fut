-- The flow of a gas (Euler's equations in three dimensions) through an unstructured mesh of tetrahedra: each cell has four neighbours, with which it
-- exchanges mass, momentum and energy in each of three stages of a step (Runge and Kutta).
import "random"

-- A box of n * n * n cubes, each of six tetrahedra about a diagonal, one for each order of the axes, in an order that has nothing to do with places.
-- Of each cell the neighbours, where -1 is a wall and -2 the free stream, and outward faces with their areas as lengths; a cube has edges of 1.
-- ==
-- entry: mesh
-- input { 1i64 } auto output
entry mesh (n: i64) : (i32, [][4]i32, [][4][3]f32) =
  let axes = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]] : [6][3]i64
  let cells = 6 * n * n * n
  let bits = loop b = 0i32 while (1 << b) < 4 * i32.i64 cells do b + 1
  let old = order bits (map (\i -> number 7 i >> u32.i32 (32 - bits)) (iota cells))
  let new = scatter (replicate cells 0) old (map i32.i64 (iota cells))
  let inside p = and (map (\c -> 0 <= c && c < n) p)
  let unit_of a : [3]i64 = map (\k -> if k == a then 1 else 0) (iota 3)
  -- The number of the order of the axes that begins with these.
  let kind a b = if b == (a + 1) % 3 then a else 3 + (3 - a) % 3
  let cell (p: [3]i64) a b = ((p[0] * n + p[1]) * n + p[2]) * 6 + kind a b
  let places (place: i64) =
    let cube = place / 6
    let p = [cube / (n * n), cube / n % n, cube % n]
    let (a, b, c) = (axes[place % 6, 0], axes[place % 6, 1], axes[place % 6, 2])
    let forward = map2 (+) p (unit_of a)
    let backward = map2 (-) p (unit_of c)
    let at q a b axis = if inside q then new[cell q a b] else if axis == 2 && q[2] < 0 then -1 else -2
    let half = map (\k -> f32.i64 k / 2)
    in ([at forward b c a, at p b a a, at p a c a, at backward c a c],
        [half (unit_of a), half (map2 (-) (unit_of b) (unit_of a)), half (map2 (-) (unit_of c) (unit_of b)), half (map (0 -) (unit_of c))])
  let (neighbours, faces) = unzip (map places old)
  in (8, neighbours, faces)

type state = {density: f32, momentum: (f32, f32, f32), energy: f32}

def gamma : f32 = 1.4

-- A state and what follows from it: the pressure, and how fast anything goes, which is the flow and sound on top of it.
type cell = {state: state, pressure: f32, fastest: f32}

def cell_of (s: state) : cell =
  let (x, y, z) = s.momentum
  let squares = x * x + y * y + z * z
  let pressure = (gamma - 1) * (s.energy - 0.5 * squares / s.density)
  in {state = s, pressure, fastest = f32.sqrt squares / s.density + f32.sqrt (gamma * pressure / s.density)}

def add (a: state) (b: state) : state =
  {density = a.density + b.density,
   momentum = (a.momentum.0 + b.momentum.0, a.momentum.1 + b.momentum.1, a.momentum.2 + b.momentum.2),
   energy = a.energy + b.energy}

def scale (f: f32) (a: state) : state =
  {density = f * a.density, momentum = (f * a.momentum.0, f * a.momentum.1, f * a.momentum.2), energy = f * a.energy}

-- What goes through a face.
def flux (c: cell) (face: [3]f32) : state =
  let s = c.state
  let (x, y, z) = s.momentum
  let through = (x * face[0] + y * face[1] + z * face[2]) / s.density
  in {density = s.density * through,
      momentum = (x * through + c.pressure * face[0], y * through + c.pressure * face[1], z * through + c.pressure * face[2]),
      energy = (s.energy + c.pressure) * through}

-- At 1.2 times the speed of sound.
def stream : state = {density = gamma, momentum = (gamma * 1.2, 0, 0), energy = 1 / (gamma - 1) + 0.5 * gamma * 1.44}

-- ==
-- entry: main
-- input { 1i32 [[1, -1, -2, -2], [0, -2, -1, -2]] [[[0.5f32, 0f32, 0f32], [0f32, 0.5f32, 0f32], [0f32, 0f32, 0.5f32], [-0.5f32, -0.5f32, -0.5f32]], [[-0.5f32, 0f32, 0f32], [0f32, 0.5f32, 0f32], [0f32, 0f32, 0.5f32], [0.5f32, -0.5f32, -0.5f32]]] } auto output
-- compiled script input { mesh 32i64 }
entry main [n] (steps: i32) (neighbours: [n][4]i32) (faces: [n][4][3]f32) : ([n]f32, [n][3]f32, [n]f32) =
  let volume = 1 / 6 : f32
  let exchange (cells: [n]cell) (here: cell) (around: [4]i32) (faces: [4][3]f32) : state =
    let outflow to f =
      let beside (there: cell) =
        let size = f32.sqrt (f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
        let viscosity = 0.25 * size * (here.fastest + there.fastest)
        in add (scale 0.5 (add (flux here f) (flux there f))) (scale viscosity (add here.state (scale (-1) there.state)))
      let (x, y, z) = (here.pressure * f[0], here.pressure * f[1], here.pressure * f[2])
      in if to >= 0 then beside cells[to]
         else if to == -1 then {density = 0, momentum = (x, y, z), energy = 0}
         else beside (cell_of stream)
    in reduce add {density = 0, momentum = (0, 0, 0), energy = 0} (map2 outflow around faces)
  let step (old: [n]state) =
    let times = map (\s -> 0.15 / (cell_of s).fastest) old
    in loop states = old for k in [3, 2, 1] do
      let cells = map cell_of states
      in map5 (\before here time around faces -> add before (scale (-time / (volume * f32.i64 k)) (exchange cells here around faces)))
              old cells times neighbours faces
  let bump i = add stream {density = 0.1 * f32.sin (f32.i64 i), momentum = (0, 0, 0), energy = 0.2 * f32.cos (f32.i64 i)}
  let end = loop states = tabulate n bump for _i < steps do step states
  in (map (.density) end, map (\s -> [s.momentum.0, s.momentum.1, s.momentum.2]) end, map (.energy) end)
