// Reference for bench/programs/clustermeans.fut: sums of each thread's own.
#include "bench.h"

int main(int argc, char **argv) {
  int64_t k = read_i64();
  value in = read_value(" f32", 4), of = read_value(" i32", 4);
  int64_t n = in.dims[0], d = in.dims[1];
  const float *restrict points = in.data;
  const int32_t *restrict members = of.data;
  float *means = malloc((size_t)(k * d) * 4 + 4), *sums = malloc((size_t)(k * d) * 4 + 4);
  int32_t *counts = malloc((size_t)k * 4 + 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    memset(sums, 0, (size_t)(k * d) * 4);
    memset(counts, 0, (size_t)k * 4);
    if (d == 3) {
      // The most common case: a point's coordinates without a loop.
#pragma omp parallel for schedule(static) reduction(+ : sums[ : k * d], counts[ : k])
      for (int64_t i = 0; i < n; i++) {
        int64_t c = members[i];
        counts[c]++;
        sums[c * 3] += points[i * 3];
        sums[c * 3 + 1] += points[i * 3 + 1];
        sums[c * 3 + 2] += points[i * 3 + 2];
      }
    } else {
#pragma omp parallel for schedule(static) reduction(+ : sums[ : k * d], counts[ : k])
      for (int64_t i = 0; i < n; i++) {
        int64_t c = members[i];
        counts[c]++;
#pragma omp simd
        for (int64_t j = 0; j < d; j++) sums[c * d + j] += points[i * d + j];
      }
    }
    for (int64_t c = 0; c < k; c++)
      for (int64_t j = 0; j < d; j++) means[c * d + j] = sums[c * d + j] / (float)(counts[c] > 1 ? counts[c] : 1);
  }
  write_value(" f32", 4, (value){2, {k, d}, means});
}
