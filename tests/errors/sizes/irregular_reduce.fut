-- A place of a histogram has no room for rows of other lengths.
entry combine [n] (xss: *[n][..]i64) (is: [n]i64) (yss: [n][..]i64) : [n][..]i64 = reduce_by_index xss (\a b -> a ++ b) [] is yss
--                                                                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0305]: this parallel update of an irregular array is not possible
-- = `e :> [n][m]t` makes a regular array, and checks that all rows have one length
