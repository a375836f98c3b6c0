-- The type has no name outside of its module.
def f [n] (a: *acc ([n]i64)) = a
--             ^^^ error[E0201]: unknown type `acc`
