-- Quicksort of every row, of any lengths (Preserving Regularity, section 5).
import "../../tests/programs/papers/rows"
import "random"

-- ==
-- entry: generate
-- input { 3i64 } auto output
entry generate (n: i64) : ([n]i64, []i32) =
  let ls = map (\i -> i64.u32 (number 1 i % 64)) (iota n)
  in (ls, map (\i -> i32.u32 (number 2 i >> 8)) (iota (i64.sum ls)))

-- ==
-- input { [3i64, 0i64, 2i64] [3, 1, 2, 5, 4] } output { [1, 2, 3, 4, 5] }
-- compiled script input { generate 30000i64 }
def main [n] [m] (ls: [n]i64) (xs: [m]i32) : [m]i32 = flatten (map quicksort (segment ls xs)) :> [m]i32
