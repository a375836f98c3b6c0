-- How long a row is depends on the element: the array stays irregular, which `-v` remarks on.
entry rows (ns: []i64) : [][..]i64 =
  map (\n -> let w = n + 1 in iota w) ns
--^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ remark[R0301]: rows of different lengths: for each row it is stored where it begins and ends
--                   ~~~~~ the length of a row, `w`, differs from row to row: it is computed here
-- = `e :> [n][m]t` makes a regular array where all rows have one length
