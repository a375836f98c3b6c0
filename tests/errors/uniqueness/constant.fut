-- A top-level value is used any number of times.
def xs : *[3]i64 = [1, 2, 3]
--       ^^^^^^^ error[E0408]: the type of a top-level value cannot be unique
-- = a top-level value may be used any number of times, so it is never consumed
