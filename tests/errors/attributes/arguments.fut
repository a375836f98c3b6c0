-- Some attributes take arguments.
def first (xs: []i64) : i64 = #[warn] xs[0]
--                              ^^^^ warning[W0501]: unknown attribute `warn`
-- = `warn` takes arguments in parentheses
