-- A record update does not copy the other fields.
def f (r: *{ xs: []i64, ys: []i64 }) : i64 =
  let s = r with xs = [1, 2]
  let ys = s.ys with [0] = 1
--         ~~~~~~~~~~~~~~~~~ `r` is consumed here
  in ys[0] + r.ys[0]
--           ^ error[E0401]: `r` is used after it has been consumed
-- = consume a copy instead: `copy` makes one
