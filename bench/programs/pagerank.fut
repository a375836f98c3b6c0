-- PageRank of a graph in which few nodes have most links, by lists of the links that lead to each node, and over all links as a sequence
-- (Streaming Irregular Arrays, section 7.4).
import "random"

-- For each node how many links lead there and from where, and for each node how many links it has.
-- ==
-- entry: generate
-- input { 2i32 5i64 } auto output
entry generate (bits: i32) (m: i64) : ([]i64, [m]i64, []i64) =
  let (ls, from) = rmat bits m
  let degrees = reduce_by_index (replicate (length ls) 0) (+) 0 from (rep 1)
  in (ls, from, degrees)

def round [n] (sums: [n]f64) : [n]f64 = map (\s -> 0.15 / f64.i64 n + 0.85 * s) sums

-- ==
-- entry: lists links
-- input { [1i64, 1i64, 2i64] [2i64, 0i64, 1i64, 0i64] [2i64, 1i64, 1i64] }
-- output { [0.38891305880091237f64, 0.214416470596171f64, 0.3966704706029163f64] }
-- compiled script input { generate 16i32 1000000i64 }
entry lists [n] [m] (ls: [n]i64) (from: [m]i64) (degrees: [n]i64) : [n]f64 =
  let links = segment ls from
  in loop ranks = replicate n (1 / f64.i64 n) for _i < 10i32 do
       let shares = map2 (\r d -> r / f64.i64 d) ranks degrees
       in round (map (\from -> f64.sum (map (\i -> shares[i]) from)) links)

entry links [n] [m] (ls: [n]i64) (from: [m]i64) (degrees: [n]i64) : [n]f64 =
  let to = flatten (map2 (\i l -> replicate l i) (iota n) ls) :> [m]i64
  let links = seq.zip (seq.from_array to) (seq.from_array from)
  in loop ranks = replicate n (1 / f64.i64 n) for _i < 10i32 do
       let shares = map2 (\r d -> r / f64.i64 d) ranks degrees
       let add sums k (es: [k](i64, i64)) = reduce_by_index (copy sums) (+) 0 (map (.0) es) (map (\(_, i) -> shares[i]) es)
       in round (seq.fold_chunks add (replicate n 0) links)
