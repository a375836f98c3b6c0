-- An update cannot write a part of the array into itself.
def f [n] (xss: *[n][n]i64) : [n][n]i64 =
  xss with [0] = xss[1]
--               ^^^^^^ error[E0403]: the new value of an in-place update may share memory with the array that is updated
--~~~ the array that is updated
-- = both may share memory with `xss`
-- = write a copy of the value: `copy` makes one
