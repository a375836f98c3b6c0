-- The types of a definition should not hang on a default.
def add x y = x + y
--              ^ warning[W0305]: this type is ambiguous; `i32` is taken by default
-- = add a type annotation
