-- A type is in scope after its declaration.
def scale (p: point) : point = {x = p.x * 2, y = p.y * 2}
--            ^^^^^ error[E0201]: unknown type `point`
type point = {x: f32, y: f32}
