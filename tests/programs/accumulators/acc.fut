-- Shorter names for the accumulators of the module `intrinsics`.

type~ acc 't = intrinsics.acc t

def write [n] 't (a: *acc ([n]t)) (i: i64) (v: t) : *acc ([n]t) =
  intrinsics.acc_write a i v

def scatter_with [k] [n] 'a 'b (dest: *[k]a) (f: *acc ([k]a) -> b -> acc ([k]a)) (bs: [n]b) : *[k]a =
  intrinsics.scatter_stream dest f bs

def combine_with [k] [n] 'a 'b (dest: *[k]a) (op: a -> a -> a) (ne: a) (f: *acc ([k]a) -> b -> acc ([k]a)) (bs: [n]b) : *[k]a =
  intrinsics.hist_stream dest op ne f bs
