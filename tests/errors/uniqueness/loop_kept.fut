-- A loop consumes its parameter if the body does, but not one whose written type has no `*`.
def f (xs: *[]i64) : []i64 =
  loop ys: []i64 = xs for i < 3 do
--     ~~~~~~~~~ this parameter
    ys with [i] = i
--  ^^^^^^^^^^^^^^^ error[E0402]: `ys` is consumed, but it may not be
-- = only a parameter of a unique type, which is written with `*`, may be consumed
-- = consume a copy instead: `copy` makes one
