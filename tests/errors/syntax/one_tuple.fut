-- There are no tuples of one element.
def f (x: (i32,)) : i32 = x.0
--            ^ error[E0107]: a tuple type needs at least two elements
-- = remove the comma, or add an element
