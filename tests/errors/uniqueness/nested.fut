-- A function cannot consume twice what only the outer one owns.
def f (xs: *[]i64) : i64 =
  let change (ys: *[]i64) : *[]i64 = ys with [0] = 1
  let a = change xs
--               ~~ `xs` is consumed here
  let b = change xs
--               ^^ error[E0401]: `xs` is used after it has been consumed
-- = consume a copy instead: `copy` makes one
  in a[0] + b[0]
