-- Sizes that are computed in callees by products: equal sizes may have been written differently.
-- ==
-- input { 2i64 [1i64, 2i64] } output { 15i64 }
def counts (xs: []i64) (y: i64) : ([]i64, []i64) =
  let z = y * i64.sum xs
  in (iota y, iota z)

def second (y: i64) (xs: []i64) : ([]i64, i64) =
  let z = y * i64.sum xs
  let (as, bs) = counts (iota z) z
  in (bs, i64.sum as)

def main (y: i64) (xs: []i64) = (second y xs).1
