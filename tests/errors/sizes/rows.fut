-- Rows of any lengths are not known to have one length.
def f [n] [m] (xss: [n][m]i64) (yss: [n][..]i64) : [n][m]i64 = if n > m then xss else yss
--                                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0302]: result of the function: expected `[n][m]i64`, found `[n][..]i64`
-- = the sizes `m` and `..` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
