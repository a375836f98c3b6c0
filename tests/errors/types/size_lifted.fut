-- A type that hides sizes has no arrays.
type~ list = ?[n].[n]i32

def lists (_: [3]list) : i32 = 3
--               ^^^^ error[E0305]: an array cannot have elements of a size-lifted type: they might differ in size
