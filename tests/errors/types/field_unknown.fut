-- A field that a record does not have.
def depth (p: {x: f32, y: f32}) : f32 = p.z
--                                      ^ error[E0301]: field `z`: expected `{z: _, ...}`, found `{x: f32, y: f32}`
-- = `{x: f32, y: f32}` has no field `z`
