-- Folds whose operator returns rows of any lengths, though they begin with rows of one.
-- ==
-- entry: begun
-- input { 3i64 } output { [9i64, 9i64] [[0i64, 1i64, 2i64, 3i64, 4i64, 5i64, 6i64, 7i64], [0i64, 1i64, 2i64, 3i64, 4i64, 5i64, 6i64, 7i64]] }

entry begun (n: i64) : ([]i64, [][..]i64) =
  let xss = foldl (\acc i -> map (\row -> iota (length row + i)) acc) (replicate 2 (iota 5)) (iota n)
  in (map (\xs -> length xs + 1) xss, xss)

-- ==
-- entry: nested
-- input { [[1i64, 2i64], [3i64]] } output { 21i64 }

entry nested (xss: [][..]i64) : i64 =
  let flat = foldl (\a r -> a ++ r ++ foldl (\b s -> b ++ s ++ foldl (\c t -> c ++ t) [] xss) [] xss) [] xss
  in length flat + i64.sum flat * 0
