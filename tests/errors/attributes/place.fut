-- Some attributes belong before declarations.
def first (xs: []i64) : i64 = #[inline] xs[0]
--                              ^^^^^^ warning[W0502]: `#[inline]` has no effect here
-- = it belongs before a declaration
