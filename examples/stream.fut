-- What does not fit in memory: the mean and the variance of the numbers of a file, in one go through them (Welford's method, chunk by chunk).
-- Try it on a large file: `arrc run --mem-limit=16MiB examples/stream.fut numbers.in`.
type moments = {n: f64, mean: f64, m2: f64}

def of (x: f64) : moments = {n = 1, mean = x, m2 = 0}

def join (a: moments) (b: moments) : moments =
  let n = a.n + b.n
  let d = b.mean - a.mean
  in if n == 0 then a
     else {n, mean = a.mean + d * b.n / n, m2 = a.m2 + b.m2 + d * d * a.n * b.n / n}

-- ==
-- input { [1f64, 2f64, 3f64, 4f64] } output { 4f64 2.5f64 1.25f64 }
-- input { empty([0]f64) } output { 0f64 0f64 0f64 }
entry main (numbers: seq f64) : (f64, f64, f64) =
  let all = seq.reduce join {n = 0, mean = 0, m2 = 0} (seq.map of numbers)
  in (all.n, all.mean, if all.n == 0 then 0 else all.m2 / all.n)
