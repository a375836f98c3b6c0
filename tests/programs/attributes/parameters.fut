-- A tuning parameter has the value in the expression, or that in the file `.tuning` beside the program.
-- ==
-- entry: given
-- input { 1i64 } output { 42i64 [0i64, 1i64, 2i64] }
entry given (x: i64) : (i64, []i64) =
  ((#[param(forty)] (x + 7)) + 2, iota (#[param(three)] x))

-- ==
-- entry: default
-- input { 1i64 } output { 8i64 }
entry default (x: i64) : i64 = #[param(unset)] (x + 7)
