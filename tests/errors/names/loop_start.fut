-- A loop without start values begins with variables of the same names.
def f (n: i32) = loop total for i < n do total + i
--                    ^^^^^ error[E0201]: unknown name `total`
-- = did you mean `iota`?
