// Reference for bench/programs/pagerank.fut: ten rounds, each node from the links that lead to it.
#include "bench.h"

int main(int argc, char **argv) {
  value ls = read_value(" i64", 8), from = read_value(" i64", 8), degrees = read_value(" i64", 8);
  int64_t n = ls.dims[0], *length = ls.data, *source = from.data, *degree = degrees.data;
  int64_t *start = malloc((size_t)(n + 1) * 8);
  double *ranks = malloc((size_t)n * 8 + 8), *shares = malloc((size_t)n * 8 + 8);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    start[0] = 0;
    for (int64_t i = 0; i < n; i++) start[i + 1] = start[i] + length[i];
    for (int64_t i = 0; i < n; i++) ranks[i] = 1.0 / (double)n;
    for (int round = 0; round < 10; round++) {
#pragma omp parallel for
      for (int64_t i = 0; i < n; i++) shares[i] = ranks[i] / (double)degree[i];
#pragma omp parallel for schedule(dynamic, 256)
      for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t e = start[i]; e < start[i + 1]; e++) sum += shares[source[e]];
        ranks[i] = 0.15 / (double)n + 0.85 * sum;
      }
    }
  }
  write_value(" f64", 8, (value){1, {n}, ranks});
}
