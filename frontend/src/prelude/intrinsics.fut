-- The module `intrinsics`: accumulators, and reading and writing a flat array as if it had several dimensions, each with a stride.
-- Element (i, j) is at `offset + i * s1 + j * s2`; a place outside of the array is an error.

def flat_index_2d 'a [n] (as: [n]a) (offset: i64) (n1: i64) (s1: i64) (n2: i64) (s2: i64) : [n1][n2]a =
  tabulate_2d n1 n2 (\i j -> as[offset + i * s1 + j * s2])

def flat_index_3d 'a [n] (as: [n]a) (offset: i64) (n1: i64) (s1: i64) (n2: i64) (s2: i64) (n3: i64) (s3: i64) : [n1][n2][n3]a =
  tabulate_3d n1 n2 n3 (\i j k -> as[offset + i * s1 + j * s2 + k * s3])

def flat_index_4d 'a [n] (as: [n]a) (offset: i64) (n1: i64) (s1: i64) (n2: i64) (s2: i64) (n3: i64) (s3: i64) (n4: i64) (s4: i64) : [n1][n2][n3][n4]a =
  tabulate_2d n1 n2 (\i j -> tabulate_2d n3 n4 (\k l -> as[offset + i * s1 + j * s2 + k * s3 + l * s4]))

def flat_update_2d 'a [n] [k] [l] (as: *[n]a) (offset: i64) (s1: i64) (s2: i64) (new: [k][l]a) : *[n]a =
  -- Looking the place up in the places that there are checks it.
  let places = iota n
  in scatter as (flatten (tabulate_2d k l (\i j -> places[offset + i * s1 + j * s2]))) (flatten new)

def flat_update_3d 'a [n] [k] [l] [p] (as: *[n]a) (offset: i64) (s1: i64) (s2: i64) (s3: i64) (new: [k][l][p]a) : *[n]a =
  let places = iota n
  let at x y z = places[offset + x * s1 + y * s2 + z * s3]
  in scatter as (flatten_3d (tabulate_3d k l p at)) (flatten_3d new)

def flat_update_4d 'a [n] [k] [l] [p] [q] (as: *[n]a) (offset: i64) (s1: i64) (s2: i64) (s3: i64) (s4: i64) (new: [k][l][p][q]a) : *[n]a =
  let places = iota n
  let at x y z w = places[offset + x * s1 + y * s2 + z * s3 + w * s4]
  let all = tabulate_2d k l (\x y -> tabulate_2d p q (at x y))
  in scatter as (flatten_4d all) (flatten_4d new)

-- The function gets the elements one by one and writes as often as it wants; it must return the accumulator. Places outside
-- of the array are ignored. Of several values for one place any may win.
val scatter_stream 'a 'b [k] [n] : (dest: *[k]a) -> (f: *acc ([k]a) -> b -> acc ([k]a)) -> (bs: [n]b) -> *[k]a

-- The same, but what is written is combined with what is there.
val hist_stream 'a 'b [k] [n] : (dest: *[k]a) -> (op: a -> a -> a) -> (ne: a) -> (f: *acc ([k]a) -> b -> acc ([k]a)) -> (bs: [n]b) -> *[k]a

val acc_write 'a [k] : (acc: *acc ([k]a)) -> (i: i64) -> (v: a) -> *acc ([k]a)
