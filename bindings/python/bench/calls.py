"""What a call from Python costs besides the work.

    python bindings/python/bench/calls.py

The first call of a program of thirty lines, with compiling it; later calls over small arrays, beside the same call of NumPy; an array of a
gibibyte in and out. Of each the best of several runs.
"""

import time

begun = time.perf_counter()
import arrc  # noqa: E402

IMPORT = time.perf_counter() - begun

import numpy as np  # noqa: E402

# Thirty lines: statistics of samples in several columns, smoothed.
PROGRAM = """
-- Statistics of columns of samples.

def mean [n] (xs: [n]f64) : f64 = f64.sum xs / f64.i64 n

def variance [n] (xs: [n]f64) : f64 =
  let m = mean xs
  in mean (map (\\x -> (x - m) * (x - m)) xs)

def standard [n] (xs: [n]f64) : [n]f64 =
  let m = mean xs
  let s = f64.sqrt (variance xs)
  in map (\\x -> (x - m) / f64.max 1e-9 s) xs

def smooth [n] (xs: [n]f64) : [n]f64 =
  tabulate n (\\i ->
    let before = xs[i64.max 0 (i - 1)]
    let after = xs[i64.min (n - 1) (i + 1)]
    in 0.25 * before + 0.5 * xs[i] + 0.25 * after)

def count [n] (xs: [n]f64) (buckets: i64) : [buckets]i64 =
  let bucket x = i64.f64 ((x + 4) / 8 * f64.i64 buckets)
  in hist (+) 0 buckets (map bucket xs) (replicate n 1)

-- | Smoothed columns, and how often each of some values is there.
entry main [n][m] (rows: [n][m]f64) (buckets: i64) : ([m][n]f64, [buckets]i64) =
  let columns = map (standard >-> smooth) (transpose rows)
  in (columns, count (flatten columns) buckets)

entry nothing (x: i64) : i64 = x
entry twice [n] (xs: [n]f64) : [n]f64 = map (* 2) xs
entry dot [n] (xs: [n]f64) (ys: [n]f64) : f64 = f64.sum (map2 (*) xs ys)
"""


def best(call, runs=7, repeats=1):
    """The least seconds of a call."""
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        for _ in range(repeats):
            call()
        times.append((time.perf_counter() - begun) / repeats)
    return min(times)


def main():
    rows = np.random.default_rng(1).normal(size=(1000, 8))
    lines = PROGRAM.count("\n")

    def first():
        return arrc.compile(PROGRAM, target="cpu").main(rows, 16)

    begun = time.perf_counter()
    first()
    print(f"import arrc                                  {IMPORT * 1e3:10.2f} ms")
    print(f"first call of {lines} lines, with compilation     {(time.perf_counter() - begun) * 1e3:10.2f} ms")
    print(f"the same again, compiled anew                {best(first) * 1e3:10.2f} ms")
    lib = arrc.compile(PROGRAM, target="cpu")
    xs = np.arange(100.0)
    print(f"a number in and out                          {best(lambda: lib.nothing(1), repeats=10_000) * 1e6:10.2f} us")
    print(f"a vector of 100 in and out                   {best(lambda: lib.twice(xs), repeats=10_000) * 1e6:10.2f} us")
    print(f"two vectors of 100 in, a number out          {best(lambda: lib.dot(xs, xs), repeats=10_000) * 1e6:10.2f} us")
    print(f"  NumPy's (xs * ys).sum()                    {best(lambda: (xs * xs).sum(), repeats=10_000) * 1e6:10.2f} us")
    large = np.ones(1 << 27)
    put = arrc.compile("entry put (xs: *[]f64) : *[]f64 = xs with [0] = 2", target="cpu").put
    print(f"a gibibyte in and out, updated in place      {best(lambda: put(arrc.give(large)).numpy()) * 1e3:10.3f} ms")
    assert large[0] == 2


if __name__ == "__main__":
    main()
