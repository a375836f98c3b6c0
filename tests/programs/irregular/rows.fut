-- Arrays with rows of any lengths, made by `map`, `segment` and literals, and what is done with their rows.

-- ==
-- entry: sums
-- input { [1i64,0i64,3i64] } output { [0i64,0i64,3i64] }
entry sums (ns: []i64) : []i64 = map (reduce (+) 0) (map iota ns)

-- ==
-- entry: lens
-- input { [1i64,0i64,3i64] } output { [1i64,0i64,3i64] }
entry lens (ns: []i64) : []i64 =
  let xss = map iota ns
  in lengths xss

-- ==
-- entry: lit
-- input { } output { [3, 3, 0, 15] }
entry lit : []i32 = map (\r -> reduce (+) 0 r) [[1,2],[3],[],[4,5,6]]

-- ==
-- entry: flat
-- input { [1i64,0i64,3i64] } output { [0i64,0i64,1i64,2i64] }
entry flat (ns: []i64) : []i64 = flatten (map iota ns)

-- ==
-- entry: ix
-- input { [1i64,0i64,3i64] 2i64 2i64 } output { 2i64 }
-- input { [1i64,0i64,3i64] 1i64 0i64 } error: out of bounds
entry ix (ns: []i64) (i: i64) (j: i64) : i64 = let xss = map iota ns in xss[i,j]
-- ==
-- entry: spmv
-- input { [2i64,0i64,1i64] [0i64,1i64,1i64] [1.0,2.0,3.0] [10.0,100.0] } output { [210.0, 0.0, 300.0] }
-- input { [2i64,0i64,2i64] [0i64,1i64,1i64] [1.0,2.0,3.0] [10.0,100.0] } error: add up to
entry spmv [n] (ls: []i64) (is: [n]i64) (vs: [n]f64) (x: []f64) : []f64 =
  let mat = segment ls (zip is vs)
  in map (\row -> f64.sum (map (\(i,v) -> v * x[i]) row)) mat
