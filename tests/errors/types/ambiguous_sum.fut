-- The constructors of a sum type must be known.
def f (x: i64) = match #some x case #some y -> y
--                     ^^^^^^^ error[E0303]: the sum type with the constructor `#some` is not known
-- = add a type annotation that lists all constructors
