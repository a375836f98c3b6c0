// Reference for bench/programs/bfs.fut: one border after another.
#include "bench.h"

int main(int argc, char **argv) {
  value ls = read_value(" i64", 8), to = read_value(" i64", 8);
  int64_t first = read_i64(), n = ls.dims[0], *length = ls.data, *end = to.data;
  int64_t *start = malloc((size_t)(n + 1) * 8), *out = malloc((size_t)n * 8 + 8);
  int64_t *border = malloc((size_t)n * 8 + 8), *next = malloc((size_t)n * 8 + 8);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    start[0] = 0;
    for (int64_t i = 0; i < n; i++) start[i + 1] = start[i] + length[i];
    for (int64_t i = 0; i < n; i++) out[i] = -1;
    int64_t size = 1, d = 1;
    border[0] = first;
    out[first] = 0;
    while (size > 0) {
      int64_t found = 0;
#pragma omp parallel for schedule(dynamic, 64) if (size > 1000)
      for (int64_t b = 0; b < size; b++) {
        for (int64_t e = start[border[b]]; e < start[border[b] + 1]; e++) {
          int64_t v = end[e], none = -1;
          if (__atomic_load_n(&out[v], __ATOMIC_RELAXED) < 0 &&
              __atomic_compare_exchange_n(&out[v], &none, d, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            next[__atomic_fetch_add(&found, 1, __ATOMIC_RELAXED)] = v;
          }
        }
      }
      int64_t *old = border;
      border = next, next = old;
      size = found;
      d++;
    }
  }
  write_value(" i64", 8, (value){1, {n}, out});
}
