-- Two dots alone do not say whether the end is included.
def xs : []i64 = 1..10
--                ^^ error[E0107]: `..` does not end a range
-- = `a...b` includes its end, `a..<b` does not; `a..s...b` has a step
