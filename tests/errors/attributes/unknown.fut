-- An attribute that is not known has no effect.
def sum (xs: []i64) : i64 = #[sequntial] reduce (+) 0 xs
--                            ^^^^^^^^^ warning[W0501]: unknown attribute `sequntial`
-- = did you mean `sequential`?
