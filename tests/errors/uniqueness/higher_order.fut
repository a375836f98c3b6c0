-- A function that consumes is no function that only reads.
def apply (f: []i64 -> i64) (xs: []i64) : i64 = f xs

def greedy (xs: *[]i64) : i64 = (xs with [0] = 1)[0]

def g (xs: []i64) : i64 = apply greedy xs
--                              ^^^^^^ error[E0301]: argument 1 of `apply`: expected `[]i64 -> i64`, found `(xs: *[]i64) -> i64`
-- = a function that consumes its argument is used where one that does not is expected
