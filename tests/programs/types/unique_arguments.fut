-- A mark of uniqueness in the argument of a type says nothing: it is the type that is made which is unique or not.
type held 'a = {value: a, times: i64}

module type holder = {
  val hold 'a : a -> held (*a)
}

module plain : holder = {
  def hold 'a (value: a) : held a = {value, times = 1}
}

-- ==
-- entry: kept
-- input { [1i64, 2] } output { [1i64, 2] [1i64, 2] }
entry kept (xs: []i64) : ([]i64, []i64) = (xs, (plain.hold xs).value)

def of_result (xs: []i64) : held (*[]i64) = {value = xs, times = 2}

def consume (h: *held ([]i64)) : []i64 = h.value with [0] = h.times

-- ==
-- entry: consumed
-- input { [4i64, 5] } output { [2i64, 5] [4i64, 5] }
entry consumed (xs: []i64) : ([]i64, []i64) =
  let h = of_result (copy xs)
  in (consume {value = copy h.value, times = h.times}, h.value)
