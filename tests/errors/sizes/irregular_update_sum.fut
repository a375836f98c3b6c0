-- A place in an array of sums has room for the row that is there.
type opt = #some ([..]i32) | #none
entry main [n] (xss: [n][..]i32) : [n]i32 =
  let os = map (\r -> if length r > 1 then #some r else #none : opt) xss
  let os = os with [0] = #some [1, 2]
--         ^^ error[E0305]: an update in place of a sum with an irregular array is not possible
-- = `e :> [n][m]t` makes a regular array, and checks that all rows have one length
  in map (\o -> match o case #some r -> i32.sum r case #none -> 0) os
