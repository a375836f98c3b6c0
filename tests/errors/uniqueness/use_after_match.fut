-- A pattern gives names to parts of the same memory.
type option 't = #none | #some t

def f (x: *option ([]i64)) : i64 =
  match x
  case #none -> 0
  case #some xs ->
    let ys = xs with [0] = 1
--           ~~~~~~~~~~~~~~~ `x` is consumed here
    in ys[0] + (match x case #some zs -> length zs case #none -> 0)
--                    ^ error[E0401]: `x` is used after it has been consumed
-- = consume a copy instead: `copy` makes one
