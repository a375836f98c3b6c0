-- The sizes of payloads that a value does not have must be known, too.
type~ t = #left ([]i32) | #right ([]i32)
def f (xs: []i32) : bool =
  let v : t = #left xs
--        ^ error[E0304]: the size here cannot be inferred: an open size in a type
-- = add a type annotation that says the size
  in match v
     case #left _ -> true
     case #right _ -> false
