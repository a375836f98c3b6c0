-- Nothing is known of the memory of an abstract value, but that it is one.
module store : { type t val empty : i64 -> *t val put : *t -> i64 -> *t val size : t -> i64 } = {
  type t = []i64
--         ^^^^^ error[E0305]: this type has sizes that it does not say, but is declared as an ordinary type
-- = add size parameters, or declare it with `type~`
  def empty (n: i64) : *t = replicate n 0
  def put (s: *t) (i: i64) : *t = s with [i] = 1
  def size (s: t) : i64 = length s
}

def f (n: i64) : i64 =
  let before = store.empty n
  let after = store.put before 1
  in store.size before + store.size after
