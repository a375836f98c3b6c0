-- A type takes as many arguments as it has parameters.
type pair 'a 'b = (a, b)

def first (p: pair i32) : i32 = p.0
--            ^^^^^^^^ error[E0305]: the type `pair` takes 2 arguments, but is given 1
