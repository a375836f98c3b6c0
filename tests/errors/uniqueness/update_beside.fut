-- An update of a field would change another field that is the same array.
def f (n: i64) : []i64 =
  let xs = iota n
  let r = { old = xs, new = xs }
  let s = r with new[0] = 1
  in s.old
