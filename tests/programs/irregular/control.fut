-- Irregular arrays as results of branches, state of loops, arguments and results of functions, values of the top level.

-- ==
-- entry: branch
-- input { true [2i64,0i64,1i64] } output { [0i64,1i64,0i64] }
-- input { false [2i64,0i64,1i64] } output { [0i64,1i64,0i64,1i64,0i64,1i64] }
entry branch (c: bool) (ns: []i64) : []i64 =
  flatten (if c then map iota ns else map (\_ -> iota 2) ns :> [][..]i64)

-- ==
-- entry: looped
-- input { 3i64 [2i64,0i64,1i64] } output { [5i64,3i64,4i64] [0i64,1i64,0i64,0i64,0i64, 0i64,0i64,0i64, 0i64,0i64,0i64,0i64] }
entry looped [n] (k: i64) (ns: [n]i64) : ([n]i64, []i64) =
  let xss = loop xss = map iota ns for _i < k do map (\r -> r ++ [0]) xss
  in (lengths xss, flatten xss)

def grow (xss: [][..]i64) : [][..]i64 = map (\r -> filter (> 0) r) xss
-- ==
-- entry: typed
-- input { [2i64,0i64,3i64] } output { [1i64,1i64,2i64] [1i64,0i64,2i64] }
entry typed [n] (ns: [n]i64) : ([]i64, []i64) =
  let xss = grow (map iota ns)
  in (flatten xss, lengths xss)

def rec (n: i64) (xss: [][..]i64) : [][..]i64 =
  if n == 0 then xss else rec (n - 1) (map (\r -> r ++ [n]) xss)
-- ==
-- entry: recursive
-- input { 2i64 [2i64,0i64,1i64] } output { [0i64,1i64,2i64,1i64,2i64,1i64,0i64,2i64,1i64] }
entry recursive (k: i64) (ns: []i64) : []i64 = flatten (rec k (map iota ns))

def global : [3][..]i32 = [[1],[],[2,3]]
-- ==
-- entry: globals
-- input { 2i64 } output { 5 }
entry globals (i: i64) : i32 = reduce (+) 0 global[i]

-- Points go through rows that a loop carries, whose buffers have names inside of the body alone.
-- ==
-- entry: carried
-- input { [1i64, 2i64, 3i64] [[1i64], [2i64, 3i64]] 2i64 } output { [[1i64, 2i64, 3i64], [1i64, 2i64, 3i64], [1i64, 2i64, 3i64]] }
-- input { [1i64, 2i64] [[1i64], [2i64, 3i64]] 0i64 } output { [[1i64, 2i64, 1i64, 2i64, 1i64, 2i64, 3i64], [1i64, 2i64, 1i64, 2i64, 1i64, 2i64, 3i64]] }
entry carried (ns: []i64) (xss: [][..]i64) (k: i64) : [][..]i64 =
  let yss = map (\_ -> ns) xss ++ xss
  in map (\_ -> flatten (loop (zss: [][..]i64) = yss for _i < k do xss)) ns
