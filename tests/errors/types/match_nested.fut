-- Cases are looked at together: what is missing may lie inside.
def f (x: (bool, bool)) : i64 =
  match x
--^^^^^^^ error[E0310]: unmatched values: no case of this `match` fits `(false, false)`
-- = add `case (false, false) -> ..`, or a last `case _ -> ..`
  case (true, _) -> 1
  case (_, true) -> 2
