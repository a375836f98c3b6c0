-- A program can ask to be told of the checks that are left for run time.
entry pick (xs: []f32) (i: i64) : f32 = #[warn(safety_checks)] xs[i]
--                                                             ^^^^^ warning[W0503]: Safety check required at run-time
--                                                             ~~~~~ asked for by `#[warn(safety_checks)]`
