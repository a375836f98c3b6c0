-- A type that may hold functions says so.
type transform = i32 -> i32
--               ^^^^^^^^^^ error[E0305]: this type may hold functions, but is declared as an ordinary type
-- = declare it with `type^`
