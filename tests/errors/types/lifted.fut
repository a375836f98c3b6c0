-- A type that holds functions is declared with `type^`.
type transform = i64 -> i64
--               ^^^^^^^^^^ error[E0305]: this type may hold functions, but is declared as an ordinary type
-- = declare it with `type^`
