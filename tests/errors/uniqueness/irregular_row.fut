-- A row is a part of its irregular array: it is gone when the array is updated in place.
entry main [n] (xss: *[n][..]i32) : ([n][..]i32, i32) =
  let row = xss[0]
  let yss = xss with [1, 0] = 9
--          ~~~~~~~~~~~~~~~~~~~ `xss` is consumed here
  in (yss, row[0])
--         ^^^ error[E0401]: `row` is used after it has been consumed
-- = `row` may share memory with `xss`
-- = consume a copy instead: `copy` makes one
