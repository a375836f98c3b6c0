-- A type of a module type may turn out to be an array of a size that the type does not tell: a function that takes it
-- as a later parameter takes an array of any size.

module type encoding = {
  type~ t
  val get : i64 -> t -> i64
  val weigh : i64 -> t -> i64 -> t -> i64
}

module bytes : encoding with t = []u8 = {
  type~ t = ?[n].[n]u8
  def get (i: i64) (xs: t) = i64.u8 xs[i]
  def weigh (a: i64) (xs: t) (b: i64) (ys: t) = a * length xs + b * length ys
}

def sum_with 'x (get: i64 -> x -> i64) (n: i64) (x: x) : i64 =
  loop acc = 0 for i < n do acc + get i x

module total (E: encoding with t = []u8) = {
  def total (p: u8 -> bool) (xs: []u8) =
    let some = filter p xs
    in (sum_with E.get (length some) some, E.weigh 100 xs 1 some)
}

module of_bytes = total bytes

-- ==
-- entry: hidden
-- input { [1u8, 20u8, 3u8, 40u8] } output { 60i64 402i64 }
entry hidden (xs: []u8) : (i64, i64) =
  of_bytes.total (> 9) xs
