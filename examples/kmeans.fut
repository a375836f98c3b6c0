-- k-means clustering by Lloyd's iteration: every point joins the nearest centre, every centre moves to the mean of
-- its points, until no point changes sides or the limit is reached.
-- ==
-- entry: main
-- input { 2i64 10i32 [[0f32, 0f32], [10f32, 10f32], [0f32, 2f32], [10f32, 12f32]] }
-- output { [[0f32, 1f32], [10f32, 11f32]] [0i64, 1i64, 0i64, 1i64] 2i32 }
-- random input { 3i64 20i32 [100][4]f32 } auto output
-- compiled random input { 16i64 20i32 [400000][16]f32 }

let distance2 [d] (a: [d]f32) (b: [d]f32) : f32 =
  reduce (+) 0 (map2 (\x y -> (x - y) * (x - y)) a b)

let nearest [k][d] (centres: [k][d]f32) (point: [d]f32) : i64 =
  let better (i, x) (j, y) : (i64, f32) = if y < x || (y == x && j < i) then (j, y) else (i, x)
  in (loop best = (0, f32.inf) for i < k do better best (i, distance2 centres[i] point)).0

let means [n][d] (k: i64) (old: [k][d]f32) (points: [n][d]f32) (member: [n]i64) : [k][d]f32 =
  let counts = reduce_by_index (replicate k 0i32) (+) 0 member (replicate n 1)
  let sums =
    reduce_by_index_2d (replicate k (replicate d 0f32)) (+) 0
      (flatten (map (\c -> map (\j -> (c, j)) (iota d)) member))
      (flatten points)
  in map3 (\sum count centre ->
             if count == 0 then centre else map (/ f32.i32 count) sum)
          sums counts old

-- Centres, the centre of each point, and the number of rounds. The first k points are the first centres.
entry main [n][d] (k: i64) (limit: i32) (points: [n][d]f32) : ([k][d]f32, [n]i64, i32) =
  let first = assert (k <= n) (map (\i -> points[i]) (iota k))
  let (centres, member, _, rounds) =
    loop (centres, member, moved, rounds) = (first, replicate n (-1i64), true, 0i32)
    while moved && rounds < limit do
      let now = map (nearest centres) points
      let moved = reduce (||) false (map2 (!=) now member)
      in (means k centres points now, now, moved, rounds + 1)
  in (centres, member, rounds)
