-- What is for loops does nothing elsewhere.
def all (n: i64) (x: i64) : (i64, i64, i64, i64) =
  ( #[stripmine(2)] (x + x)
  , #[stripmine(2)] loop y = x while y > 10 do y - 1
  , #[stripmine(0)] loop y = x for _i < n do y - 1
  , #[bound(10)] loop y = x for _i < n do y - 1 )
