-- Documentation comments belong to declarations.
def f (x: i64) : i64 =
  -- | The square.
--^^^^^^^^^^^^^^^^ error[E0106]: a documentation comment documents nothing here
-- = write an ordinary comment, `--` without the bar
  x * x
