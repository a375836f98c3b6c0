-- Rows of any lengths have no length that a size could name.
def width [n] [m] (_: [n][m]i64) : i64 = n * m
--             ^ error[E0305]: to tell the length `m` of rows of an irregular array is not possible
-- = `e :> [n][m]t` makes a regular array, and checks that all rows have one length

entry area (ns: []i64) : i64 = width (map iota ns)
