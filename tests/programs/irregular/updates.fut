-- Updates in place of elements and rows of irregular arrays.

-- ==
-- entry: element
-- input { [[1, 2], [], [3]] 0i64 1i64 } output { [[1, 9], [], [3]] }
-- input { [[1, 2], [], [3]] 2i64 0i64 } output { [[1, 2], [], [9]] }
-- input { [[1, 2], [], [3]] 1i64 0i64 } error: Index \[0\] out of bounds for array of shape \[0\]
-- input { [[1, 2], [], [3]] 2i64 1i64 } error: Index \[1\] out of bounds for array of shape \[1\]
-- input { [[1, 2], [], [3]] 3i64 0i64 } error: Index \[3\] out of bounds for array of shape \[3\]
-- input { [[1, 2], [], [3]] 2i64 -1i64 } error: Index \[-1\] out of bounds
entry element [n] (xss: *[n][..]i32) (i: i64) (j: i64) : [n][..]i32 = xss with [i, j] = 9

-- ==
-- entry: row
-- input { [[1, 2], [], [3]] 0i64 [7, 8] } output { [[7, 8], [], [3]] }
-- input { [[1, 2], [], [3]] 1i64 empty([0]i32) } output { [[1, 2], [], [3]] }
-- input { [[1, 2], [], [3]] 2i64 [7, 8] } error: A row of length 1 cannot be replaced by one of length 2
-- input { [[1, 2], [], [3]] -1i64 [7, 8] } error: out of bounds
entry row [n] [k] (xss: *[n][..]i32) (i: i64) (ys: [k]i32) : [n][..]i32 = xss with [i] = ys

-- A row that is made of the one that it replaces.
-- ==
-- entry: mapped
-- input { [[1, 2], [], [3]] } output { [[2, 4], [], [3]] }
entry mapped [n] (xss: *[n][..]i32) : [n][..]i32 = xss with [0] = map (* 2) xss[0]

-- Parts of a row.
-- ==
-- entry: part
-- input { [[1, 2, 3, 4], [5]] } output { [[1, 8, 9, 4], [5]] }
-- input { [[1, 2], [5]] } error: out of bounds
entry part [n] (xss: *[n][..]i32) : [n][..]i32 = xss with [0, 1:3] = [8, 9]

-- Several rows.
-- ==
-- entry: rows
-- input { [[1, 2], [], [3], [4, 5, 6]] [[7], [8, 9, 10]] } output { [[1, 2], [], [7], [8, 9, 10]] }
-- input { [[1, 2], [], [3], [4, 5, 6]] [[7, 8], [8, 9]] } error: Rows cannot be replaced by rows of other lengths
-- input { [[1, 2], [], [3], [4, 5, 6]] [[7]] } error: Shape of slice does not match
entry rows [n] [m] (xss: *[n][..]i32) (yss: [m][..]i32) : [n][..]i32 = xss with [2:4] = yss

-- Every second row, from the last one.
-- ==
-- entry: strided
-- input { [[1, 2], [], [3], [4]] [[7], []] } output { [[1, 2], [], [3], [7]] }
entry strided [n] (xss: *[n][..]i32) (yss: [2][..]i32) : [n][..]i32 = xss with [3:0:-2] = yss

-- In a loop: each step writes to the same array.
-- ==
-- entry: looped
-- input { [[1, 2], [], [3, 4, 5]] } output { [[11, 2], [], [13, 4, 5]] [[1, 2], [], [3, 4, 5]] }
entry looped [n] (xss: [n][..]i32) : ([n][..]i32, [n][..]i32) =
  let yss = loop yss = copy xss for i < n do
    if length yss[i] > 0 then yss with [i, 0] = yss[i, 0] + 10 else yss
  in (yss, xss)

-- ==
-- entry: looped_rows
-- input { [[1, 2], [], [3, 4, 5]] } output { [[2, 3], [], [4, 5, 6]] }
entry looped_rows [n] (xss: *[n][..]i32) : [n][..]i32 =
  loop xss for i < n do xss with [i] = map (+ 1) xss[i]

-- Deeper: rows of rows keep the lengths of both.
-- ==
-- entry: deep
-- input { [[[1, 2], []], [], [[3]]] } output { [[[1, 9], []], [], [[3]]] }
entry deep [n] (xsss: *[n][..][..]i32) : [n][..][..]i32 = xsss with [0, 0, 1] = 9

-- ==
-- entry: deep_row
-- input { [[[1, 2], []], [], [[3]]] } output { [[[8, 9], []], [], [[3]]] }
entry deep_row [n] (xsss: *[n][..][..]i32) : [n][..][..]i32 = xsss with [0, 0] = [8, 9]

-- ==
-- entry: deep_rows
-- input { [[[1, 2], []], [], [[3]]] [[8, 9], []] } output { [[[8, 9], []], [], [[3]]] }
-- input { [[[1, 2], []], [], [[3]]] [[8], [9]] } error: Rows cannot be replaced by rows of other lengths
-- input { [[[1, 2], []], [], [[3]]] [[8, 9]] } error: cannot be replaced by one of length 1
entry deep_rows [n] [m] (xsss: *[n][..][..]i32) (yss: [m][..]i32) : [n][..][..]i32 = xsss with [0] = yss

-- ==
-- entry: deep_several
-- input { [[[1, 2], []], [], [[3]]] [[], [[7]]] } output { [[[1, 2], []], [], [[7]]] }
-- input { [[[1, 2], []], [], [[3]]] [[], [[7, 8]]] } error: Rows cannot be replaced by rows of other lengths
entry deep_several [n] [m] (xsss: *[n][..][..]i32) (ysss: [m][..][..]i32) : [n][..][..]i32 = xsss with [1:3] = ysss

-- Rows of tuples, rows in tuples and in records.
-- ==
-- entry: tuples
-- input { [2i64, 0i64, 1i64] } output { [[0i64, 7i64], [], [0i64]] [[0i64, 8i64], [], [0i64]] }
entry tuples [n] (ns: [n]i64) : ([n][..]i64, [n][..]i64) =
  let pss = map (\n -> map (\i -> (i, i)) (iota n)) ns
  let pss = pss with [0, 1] = (7, 8)
  in (map (map (.0)) pss, map (map (.1)) pss)

-- ==
-- entry: in_tuples
-- input { [2i64, 0i64, 1i64] } output { [7i64, 0i64, 1i64] [[5i64, 6i64], [], [0i64]] }
-- input { [1i64, 0i64, 1i64] } error: A row of length 1 cannot be replaced by one of length 2
entry in_tuples [n] (ns: [n]i64) : ([n]i64, [n][..]i64) =
  let ps = map (\n -> (n, iota n)) ns
  in unzip (ps with [0] = (7, [5, 6]))

-- ==
-- entry: in_records
-- input { [2i64, 0i64, 1i64] } output { [2i64, 0i64, 1i64] [[0i64, 9i64], [], [0i64]] }
entry in_records [n] (ns: [n]i64) : ([n]i64, [n][..]i64) =
  let rs = map (\n -> {n, row = iota n}) ns
  let rs = rs with [0].row[1] = 9
  in (map (.n) rs, map (.row) rs)

-- Elements of rows may be arrays of one length.
-- ==
-- entry: triples
-- input { [2i64, 0i64, 1i64] } output { [[0i64, 0i64, 0i64], [7i64, 8i64, 9i64], [0i64, 0i64, 5i64]] }
entry triples [n] (ns: [n]i64) : [][3]i64 =
  let xsss = map (\n -> replicate n (replicate 3 0i64)) ns
  let xsss = xsss with [0, 1] = [7, 8, 9]
  let xsss = xsss with [2, 0, 2] = 5
  in flatten xsss

-- What else there is of an array stays as it was: only marks of rows are moved by `filter` and its like.
-- ==
-- entry: filtered
-- input { [[1, 2], [], [3]] } output { [[9, 2], [3]] [[1, 2], [], [3]] }
entry filtered [n] (xss: [n][..]i32) : ([][..]i32, [n][..]i32) =
  let yss = filter (\r -> length r > 0) xss
  let yss = yss with [0, 0] = 9
  in (yss, xss)

-- ==
-- entry: parted
-- input { [[1, 2], [], [3]] } output { [[9, 2], [3]] [0i64] empty([0]i32) [[1, 2], [], [3]] }
entry parted [n] (xss: [n][..]i32) : ([][..]i32, [][..]i32, [n][..]i32) =
  let (yss, zss) = partition (\r -> length r > 0) xss
  let yss = copy yss with [0, 0] = 9
  in (yss, zss, xss)

-- ==
-- entry: rotated
-- input { [[1, 2], [], [3]] } output { [[], [3], [9, 2]] [[1, 2], [], [3]] }
entry rotated [n] (xss: [n][..]i32) : ([n][..]i32, [n][..]i32) =
  let yss = rotate 1 xss
  let yss = yss with [2, 0] = 9
  in (yss, xss)

-- ==
-- entry: copied
-- input { [[1, 2], [], [3]] } output { [[9, 2], [], [3]] [[1, 2], [], [3]] [[9, 2], [], [3], [4]] }
entry copied [n] (xss: [n][..]i32) : ([n][..]i32, [n][..]i32, [][..]i32) =
  let yss = copy xss with [0, 0] = 9
  let zss = xss ++ [[4]]
  let zss = zss with [0, 0] = 9
  in (yss, xss, zss)

-- Rows that are there twice are two rows.
-- ==
-- entry: twice
-- input { [[1, 2], [], [3]] } output { [[9, 2], [], [3], [1, 2], [], [3]] }
entry twice [n] (xss: [n][..]i32) : [][..]i32 =
  let yss = xss ++ xss
  in yss with [0, 0] = 9

-- ==
-- entry: replicated
-- input { [[1, 2], [], [3]] } output { [[9, 2], [], [3], [1, 2], [], [3]] }
entry replicated [n] (xss: [n][..]i32) : [][..]i32 =
  let ysss = replicate 2 xss
  let ysss = ysss with [0, 0, 0] = 9
  in flatten ysss

-- ==
-- entry: gathered
-- input { [[1, 2], [], [3]] } output { [[9, 2], [1, 2], [3]] }
entry gathered [n] (xss: [n][..]i32) : [3][..]i32 =
  let yss = map (\i -> xss[i]) [0, 0, 2]
  in yss with [0, 0] = 9

-- ==
-- entry: literal
-- input { [1, 2] } output { [[9, 2], [3], [1, 2]] [1, 2] }
entry literal [k] (r: [k]i32) : ([][..]i32, [k]i32) =
  let xss = [r, [3], r] :> [3][..]i32
  in (xss with [0, 0] = 9, r)

-- Rows around a loop go on without growing.
-- ==
-- entry: around
-- input { [[1, 2], [], [3]] 60i64 } output { [[1, 2], [], [3]] }
entry around [n] (xss: [n][..]i32) (k: i64) : [n][..]i32 =
  (loop xss = xss :> [][..]i32 for _i < k do xss[1:] ++ xss[:1]) :> [n][..]i32

-- Functions with unique parameters, in loops and recursive.
def bump [n] (xss: *[n][..]i32) (i: i64) : *[n][..]i32 =
  let row = map (+ 1) xss[i]
  in xss with [i] = row

def rec [n] (i: i64) (xss: *[n][..]i32) : *[n][..]i32 =
  if i == n then xss else rec (i + 1) (bump xss i)

-- ==
-- entry: functions
-- input { [[1, 2], [], [3]] } output { [[3, 4], [], [5]] [[1, 2], [], [3]] }
entry functions [n] (xss: [n][..]i32) : ([n][..]i32, [n][..]i32) =
  let yss = loop yss = copy xss for i < n do bump yss i
  in (rec 0 yss, xss)

-- Inside of parallel code.
-- ==
-- entry: inside
-- input { [3i64, 0i64, 2i64] } output { [[[0i64], [0i64, 1i64], [7i64, 1i64, 2i64]], [], [[0i64], [7i64, 1i64]]] }
entry inside [n] (ns: [n]i64) : [n][..][..]i64 =
  map (\n -> let xss = map (\i -> iota (i + 1)) (iota n)
             in if n == 0 then xss else xss with [n - 1, 0] = 7) ns

-- ==
-- entry: sorted
-- input { [[3, 1, 2], [], [5, 4]] } output { [[1, 2, 3], [], [4, 5]] }
entry sorted [n] (xss: [n][..]i32) : [n][..]i32 =
  let insertion [k] (xs: *[k]i32) : *[k]i32 =
    loop xs for i < k do
      (loop (xs, j) = (xs, i) while j > 0 && xs[j - 1] > xs[j] do
         let (a, b) = (copy xs[j - 1], copy xs[j])
         let xs = xs with [j] = a
         in (xs with [j - 1] = b, j - 1)).0
  in map (\r -> insertion (copy r)) xss

-- An array of one length under an irregular type.
-- ==
-- entry: even
-- input { 2i64 3i64 [7i64, 8i64, 9i64] } output { [[7i64, 8i64, 9i64], [0i64, 1i64, 5i64]] }
-- input { 2i64 3i64 [7i64, 8i64] } error: does not match
entry even (n: i64) (m: i64) (r: []i64) : [n][..]i64 =
  let xss : *[n][..]i64 = replicate n (iota m)
  let xss = xss with [0] = r
  in xss with [1, 2] = 5
