-- Conjunction and disjunction do not evaluate the right side when the left decides.
-- ==
-- entry: lazy
-- input { 0 } output { false }
-- input { 2 } output { true }
-- input { 9 } output { false }
entry lazy (x: i32) = x != 0 && 4 / x == 2

-- ==
-- entry: either
-- input { 0 } output { true }
-- input { 2 } output { true }
-- input { 9 } output { false }
entry either (x: i32) = x == 0 || 4 / x == 2

-- ==
-- entry: tables
-- input { true false } output { false true true false }
entry tables (a: bool) (b: bool) = (a && b, a || b, a != b, a == b)

-- ==
-- entry: negate
-- input { true } output { false 1i32 }
-- input { false } output { true 0i32 }
entry negate (a: bool) = (!a, i32.bool a)
