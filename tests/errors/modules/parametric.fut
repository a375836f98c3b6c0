-- A parametric module has members only once it is applied.
module twice (m: { val x : i64 }) = { def y : i64 = 2 * m.x }

def z : i64 = twice.y
--            ^^^^^ error[E0205]: the module `twice` is parametric and has no members before it is applied
