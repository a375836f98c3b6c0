-- What needs rows of one length cannot be done with rows of any lengths.
entry sideways (ns: []i64) : i64 = let xss = transpose (map iota ns) in xss[0, 0]
--                                           ^^^^^^^^^^^^^^^^^^^^^^^ error[E0305]: `transpose` of an irregular array is not possible
-- = `e :> [n][m]t` makes a regular array, and checks that all rows have one length
