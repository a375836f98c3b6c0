-- An update of a field would change another field that is the same array.
def f (n: i64) : []i64 =
  let xs = iota n
  let r = { old = xs, new = xs }
  let s = r with new[0] = 1
--        ^^^^^^^^^^^^^^^^^ error[E0403]: the array that is updated may share memory with another part of the same value
--        ~ several parts of this may be one array
-- = they may share memory with `xs`
-- = make one of the parts a copy: `copy` makes one
  in s.old
