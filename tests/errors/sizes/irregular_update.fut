-- Rows of any lengths are not updated in place.
entry update (ns: []i64) : []i64 = flatten (map iota ns with [0] = iota 3)
--                                          ^^^^^^^^^^^ error[E0305]: an update in place of an irregular array is not possible
-- = `e :> [n][m]t` makes a regular array, and checks that all rows have one length
