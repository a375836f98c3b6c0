-- The sizes of a sum from outside are checked for the constructor that is there; payloads of the others may have any.
-- ==
-- entry: total
-- input { 0u8 [1, 2] empty([0]i32) }
-- output { 3 }
-- input { 1u8 empty([0]i32) [3, 4, 5] }
-- output { 12 }
-- input { 1u8 [7, 7, 7, 7] [3, 4, 5] }
-- output { 12 }
-- input { 0u8 [1, 2, 3] [3, 4, 5] }
-- error: parameter `x` has shape \[3\], expected \[2\]

type pair_or_triple = #pair ([2]i32) | #triple ([3]i32)

def sum (x: pair_or_triple) : i32 =
  match x
  case #pair xs -> i32.sum xs
  case #triple xs -> i32.sum xs

entry total (x: pair_or_triple) : i32 = sum x

-- ==
-- entry: nested
-- input { [1, 2, 3] 1u8 1u8 empty([0]i32) [4, 5, 6] }
-- output { 21 }
-- input { [1, 2, 3] 1u8 0u8 [4, 5, 6] empty([0]i32) }
-- error: parameter `x` has shape \[3\], expected \[2\]
-- input { [1, 2] 0u8 1u8 empty([0]i32) [4, 5, 6] }
-- output { 3 }

entry nested [n] (xs: [n]i32) (x: #empty | #full pair_or_triple) : i32 =
  match x
  case #empty -> i32.sum xs
  case #full y -> i32.sum xs + sum y

-- An element is replaced by a value without the payload of the others.
-- ==
-- entry: replaced
-- input { 1i64 [1, 2, 3] }
-- output { [6, 0, 6] }

type option [n] = #none | #some ([n]i32)

entry replaced [n] (i: i64) (xs: [n]i32) : [3]i32 =
  let elems = replicate 3 (#some xs : option [n])
  let elems = elems with [i] = (#none : option [n])
  in map (\x -> match x
                case #none -> 0
                case #some ys -> i32.sum ys)
         elems

-- The payload of a constructor that is not there has no size, so that its type may state a negative one.
-- ==
-- entry: negative_payload
-- input { 8i64 } output { true }
-- input { 7i64 } output { true }
def nothing (n: i64) : (#some ([n - 8]i32) | #none) = #none

entry negative_payload (n: i64) : bool =
  match nothing n
  case #some _ -> false
  case #none -> true
