-- One argument is consumed, the other would still be read.
def add [n] (xs: *[n]i64) (ys: [n]i64) : *[n]i64 =
  loop xs for i < n do xs with [i] = xs[i] + ys[i]

def f [n] (xs: *[n]i64) : [n]i64 = add xs xs
--                                     ^^ error[E0404]: this argument is consumed, but another argument may share memory with it
--                                        ~~ may share memory with it
-- = both may share memory with `xs`
-- = pass a copy of one of them: `copy` makes one
