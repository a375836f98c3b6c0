// Reference for bench/programs/pathfinder.fut.
#include "bench.h"

static inline int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

static void step(int64_t m, const uint8_t *restrict cost, const int32_t *restrict best, int32_t *restrict out) {
  int64_t last = m - 1;
  out[0] = cost[0] + least(best[0], best[m > 1]);
#pragma omp parallel for simd schedule(static)
  for (int64_t j = 1; j < last; j++) out[j] = cost[j] + least(best[j], least(best[j - 1], best[j + 1]));
  if (m > 1) out[last] = cost[last] + least(best[last], best[last - 1]);
}

int main(int argc, char **argv) {
  value costs = read_value("  u8", 1);
  int64_t n = costs.dims[0], m = costs.dims[1];
  const uint8_t *cost = costs.data;
  int32_t *a = malloc((size_t)m * 4), *b = malloc((size_t)m * 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    for (int64_t j = 0; j < m; j++) a[j] = cost[j];
    for (int64_t i = 1; i < n; i++) {
      step(m, cost + i * m, a, b);
      int32_t *other = a;
      a = b;
      b = other;
    }
  }
  write_value(" i32", 4, (value){1, {m}, a});
}
