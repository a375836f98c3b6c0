-- Columns of rows that differ in length are no array.
entry main [n] (xss: *[n][..]i32) : [n][..]i32 = xss with [0:1, 0] = [1]
--                                               ^^^ error[E0305]: an update of parts of several rows of an irregular array is not possible
-- = `e :> [n][m]t` makes a regular array, and checks that all rows have one length
