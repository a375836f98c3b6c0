-- A local declaration may have the name of another one: what follows in the module means the newest, what is outside of it
-- the one that the module exports.
module steps = {
  type state = i64

  def step (s: state) (by: i64) : state = s + by

  local def step (s: state) : state = step (step s 10) 20

  local type state = {count: i64}

  def twice (s: state) : i64 = step s.count

  local module step = { def by = 5i64 }

  def five : i64 = step.by
}

-- ==
-- entry: inside_and_outside
-- input { 1i64 } output { 3i64 31i64 5i64 }
entry inside_and_outside (x: i64) = (steps.step x 2, steps.twice {count = x}, steps.five)

local def limit = 10i64

def limit = limit + 1i64

local def limit = limit * 2

-- ==
-- entry: of_a_file
-- input { } output { 22i64 }
entry of_a_file : i64 = limit
