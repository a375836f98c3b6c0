-- Checks count in functions that are called, too.
def pick (xs: []f32) (i: i64) : f32 = xs[i]
--                                    ^^^^^ warning[W0503]: Safety check required at run-time

entry gather (xs: []f32) (is: []i64) : []f32 =
  #[warn(safety_checks)] map (pick xs) is
--                       ~~~~~~~~~~~~~~~~ asked for by `#[warn(safety_checks)]`
