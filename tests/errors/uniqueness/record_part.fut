-- A record update may consume the part that it replaces, and no other.
def other (r: *{ xs: []i64, ys: []i64 }) = r with xs = (r.ys with [0] = 1)
--                                         ^ error[E0401]: `r` is used after it has been consumed
--                                                     ~~~~~~~~~~~~~~~~~~~ `r` is consumed here
-- = consume a copy instead: `copy` makes one

def deeper (r: *{ a: { xs: []i64, ys: []i64 }, k: i64 }) = r with a.xs = (r.a.ys with [0] = 1)
--                                                         ^ error[E0401]: `r` is used after it has been consumed
--                                                                       ~~~~~~~~~~~~~~~~~~~~~ `r` is consumed here
-- = consume a copy instead: `copy` makes one

def afterwards (r: *{ xs: []i64, k: i64 }) =
  let s = r with xs = (r.xs with [0] = 1)
--                    ~~~~~~~~~~~~~~~~~~~ `r` is consumed here
  in (s, r)
--       ^ error[E0401]: `r` is used after it has been consumed
-- = consume a copy instead: `copy` makes one

def shared (xs: *[]i64) =
  let r = { a = xs, b = xs }
  in r with a = (r.a with [0] = 1)
--   ^ error[E0401]: `xs` is used after it has been consumed
--              ~~~~~~~~~~~~~~~~~~ `xs` is consumed here
-- = consume a copy instead: `copy` makes one
