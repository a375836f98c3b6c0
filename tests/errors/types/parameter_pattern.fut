-- A pattern of a parameter must match every value.
def f (#some x : #some i32 | #none) : i32 = x
--    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0309]: this pattern does not match all values of its type, which is only allowed in `match`
