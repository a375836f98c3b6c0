-- The size of a loop's result must be that of its parameter, or be left open.
def halve [n] (xs: [n]i32) : []i32 = take (n / 2) xs

def pass [n] (xs: [n]i32) (by: [n / 2 * 2]i32) : [n / 2 * 2]i32 = map2 (+) (xs :> [n / 2 * 2]i32) by

def passes (xs: []i32) (by: []i32) : []i32 =
  loop xs for _i < 3 do pass (halve xs) by
--^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0306]: a size that changes in this loop is used outside of it
-- = a variable from outside of the loop has a type that would have to change with it
