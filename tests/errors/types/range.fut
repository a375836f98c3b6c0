-- A range whose first two elements are the same never ends.
def f (n: i64) : []i64 = 1..1...n
--                       ^^^^^^^^ warning[W0302]: the first two elements of this range are the same, so it is invalid
