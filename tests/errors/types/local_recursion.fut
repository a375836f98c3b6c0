-- Only top-level functions are recursive.
def count (n: i64) : i64 =
  let go (k: i64) : i64 = if k == 0 then 0 else go (k - 1)
--                                              ^^ error[E0201]: unknown name `go`
  in go n
