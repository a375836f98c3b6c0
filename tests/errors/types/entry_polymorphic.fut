-- An entry point has one type.
entry id 't (x: t) : t = x
--    ^^ error[E0312]: an entry point cannot be polymorphic in types
