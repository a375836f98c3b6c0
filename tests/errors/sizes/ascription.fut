-- An ascription is checked by the compiler; only a coercion is checked at run time.
def three [n] (xs: [n]i32) : [3]i32 = xs : [3]i32
--                                    ^^^^^^^^^^^ error[E0302]: ascribed type: expected `[3]i32`, found `[n]i32`
-- = the sizes `3` and `n` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
