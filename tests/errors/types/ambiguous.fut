-- Which record a field belongs to must be known where it is used.
def f r = r.x
--        ^^^ error[E0303]: the record type with the field `x` is not known
-- = add a type annotation to the parameter or variable
