-- A function that returns rows of any lengths does not make a regular array.
def evens [n] (xss: [n][4]i32) : [n][4]i32 = map (filter (\x -> x % 2 == 0)) xss
--                                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0302]: result of the function: expected `[n][4]i32`, found `[n][..]i32`
-- = the sizes `4` and `..` are not known to be equal
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
