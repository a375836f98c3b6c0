-- What irregular programs cost: the same work in rows of equal lengths, of wildly different ones, and in one row (docs/counts.md).

import "../tests/programs/papers/irregular"

def noise (i: i64) : i32 = i32.u64 ((u64.i64 i * 6364136223846793005 + 1442695040888963407) >> 33)

-- Where `k` parts of `n` elements begin: of equal lengths, or nearly all of them next to nothing and the last ones most of all.
def equal (k: i64) (n: i64) : []i64 = tabulate (k + 1) (\i -> i * n / k)
def uneven (k: i64) (n: i64) : []i64 = tabulate (k + 1) (\i -> i64.f64 (f64.i64 n * (f64.i64 i / f64.i64 k) ** 8))

def sorted_parts (starts: []i64) (n: i64) : i32 = i32.maximum (medians starts (tabulate n noise))

entry sort_one (n: i64) : i32 = sorted_parts [0, n] n
entry sort_equal (k: i64) (n: i64) : i32 = sorted_parts (equal k n) n
entry sort_uneven (k: i64) (n: i64) : i32 = sorted_parts (uneven k n) n

def sums (starts: []i64) : i64 =
  i64.maximum (map (\i -> i64.sum (iota (starts[i + 1] - starts[i]))) (iota (length starts - 1)))

entry sum_one (n: i64) : i64 = sums [0, n]
entry sum_equal (k: i64) (n: i64) : i64 = sums (equal k n)
entry sum_uneven (k: i64) (n: i64) : i64 = sums (uneven k n)

-- Rows of a matrix: regular arrays (docs/ablation.md, `regularity`).
entry rows_sorted (n: i64) (m: i64) : i32 =
  i32.maximum (flatten (rows (tabulate_2d n m (\i j -> noise (i * m + j)))))
entry rows_transformed (n: i64) (m: i64) : f64 =
  let re = tabulate_2d n m (\i j -> f64.i32 (noise (i * m + j) % 1000))
  in f64.sum (flatten (fft re (map (map (const 0)) re)).0)
