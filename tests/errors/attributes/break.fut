-- There is no debugger.
def half (x: i32) : i32 = #[break] (x / 2)
--                          ^^^^^ warning[W0502]: `#[break]` has no effect: there is no debugger that could stop here
