-- The constructors of a sum type are those that it lists.
type answer = #yes | #no

def maybe : answer = #perhaps
--                   ^^^^^^^^ error[E0301]: result of the function: expected `#no | #yes`, found `#perhaps | ...`
-- = `#no | #yes` has no constructor `#perhaps`
