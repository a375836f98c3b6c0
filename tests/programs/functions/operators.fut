-- User-defined operators, their precedence, backticks, sections, pipes, shadowing of built-in ones.
def (<*>) (x: i32) (y: i32) : i32 = 10 * x + y
def (+++) 'a [n] [m] (xs: [n]a) (ys: [m]a) : [n + m]a = xs ++ ys
def (|+|) (x: i32) (y: i32) : i32 = x + y
def x ^^ y : i32 = x * x + y
def minus (x: i32) (y: i32) : i32 = x - y

-- An operator has the precedence of the longest built-in operator that it begins with.
-- ==
-- entry: precedence
-- input { 1i32 2i32 3i32 } output { 23i32 30i32 7i32 7i32 }
entry precedence (x: i32) (y: i32) (z: i32) =
  (x * y <*> z, x + y <*> 0 + 0, x + y * z, x + (y |+| 4))

-- ==
-- entry: sections
-- input { 7i32 } output { 9i32 5i32 -5i32 4i32 5i32 3i32 }
entry sections (x: i32) =
  ((+ 2) x, (x -) 2, (2 -) x, (`minus` 3) x, (minus 12) x, x `minus` 4)

-- ==
-- entry: paths
-- input { 3i32 [[1, 2], [3, 4]] } output { 3i32 4i32 [2, 4] }
entry paths (x: i32) (m: [2][2]i32) =
  ((.a.b) {a = {b = x}}, (.[1, 1]) m, map (.[1]) m)

-- ==
-- entry: pipes
-- input { 5i32 } output { 12i32 12i32 12i32 12i32 [1, 2, 3] 27i32 }
entry pipes (x: i32) =
  ( x |> (+ 1) |> (* 2)
  , (* 2) <| (+ 1) <| x
  , ((+ 1) >-> (* 2)) x
  , ((* 2) <-< (+ 1)) x
  , [1] +++ [2, 3]
  , x ^^ 2
  )

-- ==
-- entry: shadowed
-- input { 3i32 4i32 } output { 12i32 7i32 }
entry shadowed (x: i32) (y: i32) =
  let r =
    let (+) = \(a: i32) (b: i32) : i32 -> a * b
    in x + y
  in (r, x + y)
