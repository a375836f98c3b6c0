-- Type parameters are declared.
def first (pair: ('t, 't)) : 't = pair.0
--                ^ error[E0102]: expected a type or `)`, found `'`
