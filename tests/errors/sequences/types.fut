type t = seq i32
--       ^^^^^^^ error[E0305]: this type may hold functions, but is declared as an ordinary type
-- = declare it with `type^`
