// Reference for examples/kmeans.fut.
#include "bench.h"

int main(int argc, char **argv) {
  int64_t k = read_i64();
  int32_t limit = read_i32();
  value in = read_value(" f32", 4);
  int64_t n = in.dims[0], d = in.dims[1];
  const float *points = in.data;
  float *centres = malloc((size_t)(k * d) * 4), *sums = malloc((size_t)(k * d) * 4);
  int64_t *member = malloc((size_t)n * 8);
  int32_t *counts = malloc((size_t)k * 4), rounds = 0;
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    memcpy(centres, points, (size_t)(k * d) * 4);
    for (int64_t i = 0; i < n; i++) member[i] = -1;
    bool moved = true;
    for (rounds = 0; moved && rounds < limit; rounds++) {
      moved = false;
#pragma omp parallel for reduction(|| : moved)
      for (int64_t i = 0; i < n; i++) {
        int64_t best = 0;
        float least = INFINITY;
        for (int64_t c = 0; c < k; c++) {
          float sum = 0;
          for (int64_t j = 0; j < d; j++) {
            float e = centres[c * d + j] - points[i * d + j];
            sum += e * e;
          }
          if (sum < least) {
            least = sum;
            best = c;
          }
        }
        moved = moved || member[i] != best;
        member[i] = best;
      }
      memset(sums, 0, (size_t)(k * d) * 4);
      memset(counts, 0, (size_t)k * 4);
      for (int64_t i = 0; i < n; i++) {
        counts[member[i]]++;
        for (int64_t j = 0; j < d; j++) sums[member[i] * d + j] += points[i * d + j];
      }
      for (int64_t c = 0; c < k; c++)
        for (int64_t j = 0; j < d; j++)
          if (counts[c] > 0) centres[c * d + j] = sums[c * d + j] / (float)counts[c];
    }
  }
  write_value(" f32", 4, (value){2, {k, d}, centres});
  write_value(" i64", 8, (value){1, {n}, member});
  write_value(" i32", 4, (value){0, {0}, &rounds});
}
