-- A recursive function returns no function.
def adder (n: i32) : i32 -> i32 =
--  ^^^^^ error[E0311]: the recursive function `adder` returns a function; make it take all parameters
  \x -> if n == 0 then x else adder (n - 1) (x + 1)
