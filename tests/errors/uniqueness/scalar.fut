-- Only a value that holds arrays can be unique.
def half (x: *i64) : i64 = x / 2
--           ^^^^ warning[W0401]: `*` has no effect: a value of type `i64` holds no array
