-- Attributes do not change what a program means, apart from `unsafe`, which leaves assertions out.
-- ==
-- entry: asserted
-- input { 3i32 } output { 4i32 }
-- input { -3i32 } error: x > 0
entry asserted (x: i32) : i32 = assert (x > 0) (x + 1)

-- ==
-- entry: unchecked
-- input { -3i32 } output { -2i32 }
entry unchecked (x: i32) : i32 = #[unsafe] assert (x > 0) (x + 1)

#[noinline]
def far (x: i64) : i64 = x * x

#[inline]
def near (x: i64) : i64 = x + 1

-- ==
-- entry: hinted
-- input { [1i64, 2i64, 3i64] } output { 18i64 [2i64, 5i64, 10i64] 6i64 }
entry hinted (xs: []i64) =
  ( #[sequential] i64.sum (map near xs) + #[opaque] 9
  , #[sequential_inner] map (\x -> #[noinline] near (far x)) xs
  , #[unroll] loop s = 0 for i < 3 do s + xs[i]
  )

-- Elements that are all written need no value first.
-- ==
-- entry: filled
-- input { 4i64 } output { [0i64, 10i64, 20i64, 30i64] }
entry filled (n: i64) : [n]i64 =
  scatter (#[scratch] replicate n 0) (iota n) (map (* 10) (iota n))

-- What is `blank` is not computed: here there is no first element.
-- ==
-- entry: unneeded
-- input { [5i32, 6i32] } output { [0i64, 0i64] [[5i32, 5i32], [6i32, 6i32]] }
-- input { empty([0]i32) } output { empty([0]i64) empty([0][2]i32) }
entry unneeded [n] (xs: [n]i32) : ([n]i64, [n][2]i32) =
  let rows = replicate n (#[blank] ([[xs[0], 1]])[0])
  let weights = replicate n ((#[blank] (xs[0], 7i64)).1 * 0)
  in (weights, scatter rows (iota n) (map (\x -> [x, x]) xs))
