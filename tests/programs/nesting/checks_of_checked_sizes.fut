-- Sizes that are the same for all points, but known only where a check of each point holds: what they are checked for is
-- checked by the points, too.
def table (n: i64) (m: i64) (x: i64) = tabulate_2d n m (\i j -> i * m + j + x)

def sums [n] (xs: [n]i64) (k: i64) =
  map (\x -> assert (x > 0) (map i64.sum (transpose (table (k + 1) (k + 1) x)) |> i64.product)) xs

-- ==
-- entry: products
-- input { [1i64, 2, 3] 1i64 } output { [24i64, 48, 80] }
-- input { [1i64, 0, 3] 1i64 } error: Assertion is false
-- input { empty([0]i64) -7i64 } output { empty([0]i64) }
-- input { [1i64] -7i64 } error: Range 0..1..<-6 is invalid
entry products [n] (xs: [n]i64) (k: i64) = sums xs k

-- ==
-- entry: all_hold
-- input { [3i64, 4, 9] } output { true }
-- input { [3i64, -4, 9] } error: Assertion is false
entry all_hold [n] (xs: [n]i64) =
  let size = opaque 4
  let fits x =
    assert (x > 0)
           (let all = table size size x
            let rows = [(x - 1, 0, all)]
            let turned = map (\(_, _, b) -> transpose b) rows
            in map2 (\a (_, _, b) -> map2 (map2 (==)) (transpose a) b |> map and |> and) turned rows |> and)
  in all fits xs
