-- A tuning parameter is a size.
def share (x: f32) : f32 = #[param(part)] x / 2
--                           ^^^^^^^^^^^ warning[W0502]: `#[param]` has no effect: only an expression of type `i64` can be a parameter
