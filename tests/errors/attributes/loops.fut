-- What is for loops does nothing elsewhere.
def all (n: i64) (x: i64) : (i64, i64, i64, i64) =
  ( #[stripmine(2)] (x + x)
--    ^^^^^^^^^^^^ warning[W0502]: `#[stripmine]` has no effect: this is no loop
  , #[stripmine(2)] loop y = x while y > 10 do y - 1
--    ^^^^^^^^^^^^ warning[W0502]: `#[stripmine]` has no effect: a `while` loop has no count
  , #[stripmine(0)] loop y = x for _i < n do y - 1
--    ^^^^^^^^^^^^ warning[W0502]: `#[stripmine]` has no effect: it takes the number of loops to be put around this one, at least 1
  , #[bound(10)] loop y = x for _i < n do y - 1 )
--    ^^^^^^^^^ warning[W0502]: `#[bound]` has no effect: a `for` loop has a count
