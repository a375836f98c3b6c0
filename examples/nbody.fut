-- Bodies that attract each other: all pairs, softened, advanced by the leapfrog scheme.
-- ==
-- entry: main
-- input { 2i64 1i32 } auto output
-- input { 33i64 3i32 } auto output
-- compiled input { 4096i64 30i32 }

type body = {x: f32, y: f32, z: f32, m: f32}
type vec = {x: f32, y: f32, z: f32}

let add (a: vec) (b: vec) : vec = {x = a.x + b.x, y = a.y + b.y, z = a.z + b.z}

-- The pull of b on a, per unit of mass of a. The softening keeps it finite where two bodies meet.
let pull (a: body) (b: body) : vec =
  let dx = b.x - a.x
  let dy = b.y - a.y
  let dz = b.z - a.z
  let r2 = dx * dx + dy * dy + dz * dz + 0.01f32
  let f = b.m / (r2 * f32.sqrt r2)
  in {x = f * dx, y = f * dy, z = f * dz}

let accelerations [n] (bodies: [n]body) : [n]vec =
  map (\a -> reduce add {x = 0, y = 0, z = 0} (map (pull a) bodies)) bodies

let step [n] (dt: f32) (bodies: [n]body) (speeds: [n]vec) : ([n]body, [n]vec) =
  let kick (v: vec) (a: vec) : vec = {x = v.x + dt * a.x, y = v.y + dt * a.y, z = v.z + dt * a.z}
  let drift (b: body) (v: vec) : body =
    {x = b.x + dt * v.x, y = b.y + dt * v.y, z = b.z + dt * v.z, m = b.m}
  let speeds = map2 kick speeds (accelerations bodies)
  in (map2 drift bodies speeds, speeds)

-- A ball of bodies on a golden spiral, at rest.
let start (n: i64) : [n]body =
  tabulate n (\i ->
    let t = (f32.i64 i + 0.5f32) / f32.i64 n
    let h = 1f32 - 2f32 * t
    let r = f32.sqrt (f32.max 0f32 (1f32 - h * h))
    let angle = 2.3999632f32 * f32.i64 i
    in {x = r * f32.cos angle, y = r * f32.sin angle, z = h, m = 1f32 / f32.i64 n})

let simulate [n] (steps: i32) (bodies: [n]body) : [n]body =
  (loop (bodies, speeds) = (bodies, replicate n {x = 0f32, y = 0f32, z = 0f32})
   for _i < steps do step 0.01f32 bodies speeds).0

-- Positions after so many steps.
entry main (n: i64) (steps: i32) : ([n]f32, [n]f32, [n]f32) =
  let bodies = simulate steps (start n)
  in (map (.x) bodies, map (.y) bodies, map (.z) bodies)

-- The same for bodies that the caller gives.
-- ==
-- entry: from
-- input { 1i32 [0f32, 1f32] [0f32, 0f32] [0f32, 0f32] [1f32, 1f32] }
-- output { [0.0000985f32, 0.9999015f32] [0f32, 0f32] [0f32, 0f32] }
-- input { 1i32 [0f32, 1f32] [0f32] [0f32, 0f32] [1f32, 1f32] }
-- error: size
entry from [n] (steps: i32) (xs: [n]f32) (ys: [n]f32) (zs: [n]f32) (ms: [n]f32) : ([n]f32, [n]f32, [n]f32) =
  let bodies = map4 (\x y z m -> {x, y, z, m}) xs ys zs ms
  let moved = simulate steps bodies
  in (map (.x) moved, map (.y) moved, map (.z) moved)
