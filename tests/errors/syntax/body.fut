-- A `let` has a body.
def f (x: i32) =
  let y = x + 1
--             ^ error[E0102]: expected `let` or `in`, found the end of the file
--~~~ this `let` has no `in`
-- = inside an expression `let` needs a body: `let x = ... in ...`
