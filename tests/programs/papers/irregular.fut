-- Irregular programs after the papers on flattening (Vectorisation Avoidance, Shapes and Flattening, Preserving Regularity):
-- rows of another length at each point, and loops that take another number of steps at each.

import "../accumulators/acc"

-- Sparse matrix times vector: the rows of the matrix are parts of its entries. One ragged segmented reduction, after the scan
-- of the lengths.
-- ==
-- entry: smvm
-- input { [0i64, 2i64, 2i64, 5i64] [0i64, 2i64, 0i64, 1i64, 2i64] [1f64, 2f64, 3f64, 4f64, 5f64] [1f64, 10f64, 100f64] }
-- output { [201f64, 0f64, 543f64] }
-- count *=0: map 1
-- count *=inf: map 2 scan 1 reduce 1
-- input { [0i64, 2i64, 6i64] [0i64, 1i64] [1f64, 2f64] [1f64, 2f64] } error: out of bounds
entry smvm [r] [n] (starts: [r]i64) (columns: [n]i64) (entries: [n]f64) (xs: []f64) : []f64 =
  map (\i -> let (a, b) = (starts[i], starts[i + 1])
             in f64.sum (map2 (\c e -> e * xs[c]) columns[a:b] entries[a:b]))
      (iota (r - 1))

-- Breadth-first search: in each step a vertex is reached that has a neighbour on the border. Edges are stored with the
-- vertex where they end.
-- ==
-- entry: levels
-- input { [0i64, 0i64, 1i64, 3i64, 4i64, 4i64] [0i64, 0i64, 1i64, 2i64] 0i64 } output { [0i64, 1i64, 1i64, 2i64, -1i64] }
-- count *=0: map 1 reduce 3
-- count gpu *=0: map 2
-- count *=inf: map 10 reduce 6 scan 3
entry levels [r] [m] (starts: [r]i64) (from: [m]i64) (root: i64) : []i64 =
  let n = r - 1
  let first = tabulate n (\v -> if v == root then 0 else -1)
  let (reached, _, _) =
    loop (reached, step, more) = (first, 0, true) while more do
      let next = map (\v -> let edges = from[starts[v]:starts[v + 1]]
                            let touched = reduce (||) false (map (\u -> reached[u] == step) edges)
                            in if reached[v] < 0 && touched then step + 1 else reached[v])
                     (iota n)
      in (next, step + 1, or (map (== step + 1) next))
  in reached

-- Breadth-first search that pushes: every vertex of the border marks all that its edges lead to, several of them perhaps the
-- same. Edges are stored with the vertex where they begin. One ragged scatter for each level.
-- ==
-- entry: pushed
-- input { [0i64, 2i64, 3i64, 4i64, 4i64, 4i64] [1i64, 2i64, 2i64, 3i64] 0i64 } output { [0i64, 1i64, 1i64, 2i64, -1i64] }
-- count *=0: map 7 scan 3 fill 3
-- count *=inf: map 10 scan 6 fill 3
-- input { [0i64, 2i64, 3i64, 4i64, 4i64, 4i64] [1i64, 2i64, 2i64, 3i64] 3i64 } output { [-1i64, -1i64, -1i64, 0i64, -1i64] }
-- input { [0i64, 3i64, 2i64] [1i64, 0i64] 0i64 } error: out of bounds
entry pushed [r] [m] (starts: [r]i64) (to: [m]i64) (root: i64) : []i64 =
  let n = r - 1
  let first = tabulate n (\v -> if v == root then 0 else -1)
  let (reached, _, _) =
    loop (reached, border, step) = (first, [root], 0) while !(null border) do
      let push (marks: *acc ([n]bool)) v =
        let s = starts[v]
        in loop marks for e < starts[v + 1] - s do write marks to[s + e] true
      let marks = scatter_with (replicate n false) push border
      let next = map2 (\d mark -> if mark && d < 0 then step + 1 else d) reached marks
      in (next, filter (\v -> next[v] == step + 1) (iota n), step + 1)
  in reached

-- Quicksort: each step divides all parts around their first elements, until the elements are in order.
#[inline]
def divide [k] (ys: [k]i32) (heads: [k]bool) : ([k]i32, [k]bool) =
  let here = iota k
  let latest (a, f) (b, g) = (if g then b else a, f || g)
  let (pivots, _) = unzip (scan latest (0, false) (zip ys heads))
  let starts = scan i64.max 0 (map2 (\h i -> if h then i else 0) heads here)
  let lasts = map (\i -> if i + 1 < k && !heads[i + 1] then k else i) here
  let ends = reverse (scan i64.min i64.highest (reverse lasts))
  let below = map2 (\y p -> i64.bool (y < p)) ys pivots
  let same = map2 (\y p -> i64.bool (y == p)) ys pivots
  let (lows, sames) = (scan (+) 0 below, scan (+) 0 same)
  let before s = if s == 0 then (0, 0) else (lows[s - 1], sames[s - 1])
  let place i =
    let s = starts[i]
    let (low0, same0) = before s
    let (low, eq) = (lows[i] - low0, sames[i] - same0)
    let (all_low, all_eq) = (lows[ends[i]] - low0, sames[ends[i]] - same0)
    in if below[i] == 1 then s + low - 1
       else if same[i] == 1 then s + all_low + eq - 1
       else s + all_low + all_eq + (i - s - low - eq)
  let bounds i =
    let s = starts[i]
    let (low0, same0) = before s
    let middle = s + lows[ends[i]] - low0
    in if heads[i] then (middle, middle + sames[ends[i]] - same0) else (-1, -1)
  let (middles, ups) = unzip (map bounds here)
  let marked = scatter (scatter (copy heads) middles (replicate k true)) ups (replicate k true)
  in (scatter (replicate k 0i32) (map place here) ys, marked)

#[inline]
def quicksort [k] (xs: [k]i32) : [k]i32 =
  let sorted ys = and (map (\i -> i == 0 || ys[i - 1] <= ys[i]) (iota k))
  in (loop (ys, heads) = (copy xs, map (== 0) (iota k)) while !(sorted ys) do divide ys heads).0

-- Of the rows of a matrix: the loop takes another number of steps for each, and keeps their length. All arrays are regular.
-- ==
-- entry: rows
-- input { [[3, 1, 2], [1, 2, 3], [2, 2, 1]] } output { [[1, 2, 3], [1, 2, 3], [1, 2, 2]] }
-- count *=0: map 1
-- count *=inf: map 13 reduce 2 scan 5 copy 2 fill 1
-- input { [[1, 1, 2], [1, 2, 3]] } output { [[1, 1, 2], [1, 2, 3]] }
-- count *=inf: map 3 reduce 1 scan 1 copy 2
-- input { empty([0][3]i32) } output { empty([0][3]i32) }
-- input { empty([2][0]i32) } output { empty([2][0]i32) }
entry rows [n] [m] (xss: [n][m]i32) : [n][m]i32 = map quicksort xss

-- Of parts of an array, of any lengths: the medians, and 0 for no elements.
-- ==
-- entry: medians
-- input { [0i64, 5i64, 5i64, 6i64, 8i64] [5, 1, 4, 2, 3, 9, 8, 7] } output { [3, 0, 9, 8] }
-- input { [0i64] empty([0]i32) } output { empty([0]i32) }
entry medians [r] (starts: [r]i64) (xs: []i32) : []i32 =
  map (\i -> let part = xs[starts[i]:starts[i + 1]]
             let k = length part
             in if k == 0 then 0 else (quicksort part)[k / 2])
      (iota (r - 1))

-- Fast Fourier transform of each row of a matrix, whose length is a power of two, in place of a recursion on its halves: as
-- many steps for each row. All arrays are regular.
-- ==
-- entry: fft
-- input { [[1f64, 1f64, 1f64, 1f64], [1f64, 0f64, 0f64, 0f64]] [[0f64, 0f64, 0f64, 0f64], [0f64, 0f64, 0f64, 0f64]] }
-- output { [[4f64, 0f64, 0f64, 0f64], [1f64, 1f64, 1f64, 1f64]] [[0f64, 0f64, 0f64, 0f64], [0f64, 0f64, 0f64, 0f64]] }
-- count *=0: map 1
-- count *=inf: map 2 copy 2
entry fft [n] [m] (res: [n][m]f64) (ims: [n][m]f64) : ([n][m]f64, [n][m]f64) =
  let transform (re: [m]f64) (im: [m]f64) =
    let (a, b, _) =
      loop (a, b, half) = (re, im, 1) while half < m do
        let butterfly i =
          let (k, j) = (i % half, i / half / 2)
          let angle = -f64.pi * f64.i64 k / f64.i64 half
          let (c, s) = (f64.cos angle, f64.sin angle)
          let (p, q) = (j * half + k, j * half + k + m / 2)
          let (x, y) = (c * a[q] - s * b[q], c * b[q] + s * a[q])
          in if i / half % 2 == 0 then (a[p] + x, b[p] + y) else (a[p] - x, b[p] - y)
        let (c, d) = unzip (map butterfly (iota m))
        in (c, d, half * 2)
    in (a, b)
  in unzip (map2 transform res ims)

-- Fast Fourier transform with split radix, a recursion on the even elements and on two quarters of the others. It goes equally
-- deep for each row: all arrays are regular, and one call of the function is made for all rows.
def split [m] (re: [m]f64) (im: [m]f64) : ([m]f64, [m]f64) =
  if m < 2
  then (copy re, copy im)
  else if m == 2
  then (tabulate m (\k -> if k == 0 then re[0] + re[1] else re[0] - re[1]),
        tabulate m (\k -> if k == 0 then im[0] + im[1] else im[0] - im[1]))
  else let q = m / 4
       let (er, ei) = split (tabulate (m / 2) (\i -> re[2 * i])) (tabulate (m / 2) (\i -> im[2 * i]))
       let (ar, ai) = split (tabulate q (\i -> re[4 * i + 1])) (tabulate q (\i -> im[4 * i + 1]))
       let (br, bi) = split (tabulate q (\i -> re[4 * i + 3])) (tabulate q (\i -> im[4 * i + 3]))
       let turned (r: f64) (i: f64) (k: i64) =
         let angle = -2 * f64.pi * f64.i64 k / f64.i64 m
         let (c, s) = (f64.cos angle, f64.sin angle)
         in (c * r - s * i, c * i + s * r)
       let element k =
         let j = k % q
         let (xr, xi) = turned ar[j] ai[j] j
         let (yr, yi) = turned br[j] bi[j] (3 * j)
         let (er, ei) = (er[k % (m / 2)], ei[k % (m / 2)])
         in if k < q then (er + xr + yr, ei + xi + yi)
            else if k < 2 * q then (er + xi - yi, ei - xr + yr)
            else if k < 3 * q then (er - xr - yr, ei - xi - yi)
            else (er - xi + yi, ei + xr - yr)
       in unzip (tabulate m element)

-- Of each row of a matrix, whose length is a power of two.
-- ==
-- entry: split_radix
-- input { [[1f64, 1f64, 1f64, 1f64], [1f64, 2f64, 3f64, 4f64]] [[0f64, 0f64, 0f64, 0f64], [0f64, 0f64, 0f64, 0f64]] }
-- output { [[4f64, 0f64, 0f64, 0f64], [10f64, -2f64, -2f64, -2f64]] [[0f64, 0f64, 0f64, 0f64], [0f64, 2f64, 0f64, -2f64]] }
-- count *=0: map 1
-- count *=inf: map 9 copy 8
entry split_radix [n] [m] (res: [n][m]f64) (ims: [n][m]f64) : ([n][m]f64, [n][m]f64) =
  unzip (map2 split res ims)

-- A length that goes from step to step, the same for all points (Preserving Regularity, 4.3): the ranges need no offsets.
-- ==
-- entry: windows
-- input { [1i64, 2i64, 3i64] [4i64, 2i64] } output { [8i64, 16i64, 24i64] }
-- count *=0: map 1
-- count *=inf: map 7 reduce 2 copy 1
-- input { empty([0]i64) [4i64, 2i64] } output { empty([0]i64) }
entry windows [n] [k] (xs: [n]i64) (lengths: [k]i64) : [n]i64 =
  map (\x -> (loop (sum, length) = (x, lengths[0]) for i < k do
                (sum + i64.sum (map (* x) (iota length)), lengths[(i + 1) % k])).0)
      xs
