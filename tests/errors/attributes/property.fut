-- What the tester of properties is told in a form that it does not understand.
entry ones (n: i64) (_: u64) : []i64 = replicate n 1
#[prop(genn(ones), size(3))] entry positive (xs: []i64) : bool = all (> 0) xs
--     ^^^^^^^^^^ warning[W0501]: `#[prop]` knows nothing about `genn`
-- = it takes `gen(f)`, `shrink(f)` and `size(n)`, where `f` is an entry point and `n` an integer
