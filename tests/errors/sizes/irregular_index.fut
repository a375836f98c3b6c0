-- One column of rows of any lengths need not be there.
entry column [n] (ns: [n]i64) : i64 = let xss = map iota ns in i64.sum (xss[:, 0])
--                                                                     ^^^^^^^^^^^ error[E0305]: an index into several rows of an irregular array is not possible
-- = `e :> [n][m]t` makes a regular array, and checks that all rows have one length
