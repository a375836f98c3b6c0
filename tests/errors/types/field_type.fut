-- A type of records names each field once.
type point = {x: f32, y: f32, x: f32}
--                            ^ error[E0202]: the field `x` is declared twice
