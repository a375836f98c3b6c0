-- A branch may have another size than the parameter of the loop, though here it never has.
def main [n] (xs: [n]i64) : [n]i64 =
--        ~ one of the sizes is bound here
  loop s = copy xs for i < 3 do if i == 1 then s else xs
--^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0302]: result of the function: expected `[n]i64`, found `[n]i64`
--~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ the size `n` is computed here: a size that changes in this loop
-- = the sizes `n` and `n` are not known to be equal; they are different sizes of one name
-- = a size coercion, `e :> [n]t`, checks at run time that the sizes agree
