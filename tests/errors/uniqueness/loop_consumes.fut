-- What a loop consumes, the function around it must own.
def f (xs: []i64) : []i64 =
--    ~~~~~~~~~~~ this parameter
  loop ys = xs for i < 3 do
--          ^^ error[E0402]: `xs` is consumed, but it may not be
-- = only a parameter of a unique type, which is written with `*`, may be consumed
-- = consume a copy instead: `copy` makes one
    ys with [i] = i
