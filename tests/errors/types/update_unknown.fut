-- The type of a record whose field is updated must be known.
def f r = r with a = 2i32
--        ^^^^^^^^^^^^^^^ error[E0303]: the record type with the field `a` is not known
-- = add a type annotation to the parameter or variable
