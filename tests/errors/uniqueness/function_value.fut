-- Where an array is consumed on the way to a function, the function could be applied twice.
def f (xs: *[]i32) : i32 =
  let g = let xs[0] = 1 in \(x: i32) -> x + xs[0]
--        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0407]: this function value consumes `xs` when it is made
--            ~~~~~~~~~ `xs` is consumed here
-- = a function may be called several times, but what it holds can be consumed only once
-- = pass all arguments at once, or write a lambda that makes a copy
  in g 2
