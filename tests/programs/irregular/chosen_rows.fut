-- A row of several, or one without elements, of each of some arrays for each number: an array that is chosen by points of an inner map.
-- ==
-- input { [1i64, 2i64, 3i64, 4i64] [[[1i64], [2i64, 3i64]], [[4i64]]] }
-- output { [[3i64, 4i64, 3i64, 4i64], [1i64, 4i64, 1i64, 4i64], [3i64, 4i64, 3i64, 4i64], [1i64, 4i64, 1i64, 4i64]] }
-- input { [5i64] [[[7i64, 8i64]], [[]], [[9i64]]] } output { [[8i64, 1i64, 9i64, 8i64, 1i64, 9i64]] }
def at [n] (xs: [n]i64) (i: i64) : i64 = if n == 0 then i else xs[i % n]

def row [n] (xss: [n][..]i64) (i: i64) : []i64 = if n == 0 then [] else xss[i % n]

def main (ks: []i64) (xsss: [][..][..]i64) : [][]i64 =
  map (\k -> map (\xss -> at (row xss k) 1) (xsss ++ xsss)) ks
