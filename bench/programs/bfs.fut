-- Breadth-first search over adjacency lists, in a graph in which few nodes have most links.
import "../../tests/programs/papers/rows"
import "random"

-- ==
-- entry: generate
-- input { 2i32 5i64 } auto output
entry generate (bits: i32) (m: i64) : ([]i64, [m]i64, i64) =
  let (ls, to) = rmat bits m
  in (ls, to, 0)

-- ==
-- input { [2i64, 2i64, 1i64, 0i64, 0i64] [1i64, 2i64, 0i64, 3i64, 0i64] 0i64 } output { [0i64, 1i64, 1i64, 2i64, -1i64] }
-- compiled script input { generate 18i32 4000000i64 }
def main [n] [m] (ls: [n]i64) (to: [m]i64) (from: i64) : [n]i64 = distances (segment ls to) from
