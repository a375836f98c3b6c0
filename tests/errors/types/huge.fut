-- Every call doubles the type.
def two 'a (x: a) = (x, x)
def four 'a (x: a) = two (two x)
def sixteen 'a (x: a) = four (four x)
def most 'a (x: a) = sixteen (sixteen x)
def too_much = most (most (most 1))
--  ^^^^^^^^ error[E0313]: this has a type of more than 50000 parts
-- = every use of a value whose type has the same part twice can double the type
