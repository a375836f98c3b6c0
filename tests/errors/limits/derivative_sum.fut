-- A choice has no direction.
type choice = #some f64 | #none
entry main (x: f64) : choice =
  jvp (\y -> (if y > 0 then #some y else #none) : choice) x 1
--^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0901]: not yet supported: the derivative of a function that has a result with a sum type in it
