// Reference for examples/kmeans.fut: distances of a block of points, side by side in lanes, and sums of each thread's own.
#include "bench.h"
#define BLOCK 64

// The nearest centres of `BLOCK` points, of which a column of `columns` has a coordinate each.
static inline void nearest(int64_t k, int64_t d, const float *restrict centres, const float *restrict columns,
                           int32_t best[BLOCK]) {
  float least[BLOCK];
  for (int p = 0; p < BLOCK; p++) least[p] = INFINITY, best[p] = 0;
  for (int64_t c = 0; c < k; c++) {
    float sum[BLOCK] = {0};
    for (int64_t j = 0; j < d; j++)
#pragma omp simd
      for (int p = 0; p < BLOCK; p++) {
        float e = centres[c * d + j] - columns[j * BLOCK + p];
        sum[p] += e * e;
      }
#pragma omp simd
    for (int p = 0; p < BLOCK; p++) {
      best[p] = sum[p] < least[p] ? (int32_t)c : best[p];
      least[p] = sum[p] < least[p] ? sum[p] : least[p];
    }
  }
}

int main(int argc, char **argv) {
  int64_t k = read_i64();
  int32_t limit = read_i32();
  value in = read_value(" f32", 4);
  int64_t n = in.dims[0], d = in.dims[1];
  const float *restrict points = in.data;
  float *restrict centres = malloc((size_t)(k * d) * 4), *sums = malloc((size_t)(k * d) * 4);
  int64_t *restrict member = malloc((size_t)n * 8);
  int32_t *counts = malloc((size_t)k * 4), rounds = 0;
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    memcpy(centres, points, (size_t)(k * d) * 4);
    for (int64_t i = 0; i < n; i++) member[i] = -1;
    bool moved = true;
    for (rounds = 0; moved && rounds < limit; rounds++) {
      moved = false;
      memset(sums, 0, (size_t)(k * d) * 4);
      memset(counts, 0, (size_t)k * 4);
#pragma omp parallel reduction(|| : moved) reduction(+ : sums[ : k * d], counts[ : k])
      {
        float *columns = calloc((size_t)d * BLOCK, 4);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i += BLOCK) {
          int32_t best[BLOCK];
          int size = n - i < BLOCK ? (int)(n - i) : BLOCK;
          for (int p = 0; p < size; p++)
            for (int64_t j = 0; j < d; j++) columns[j * BLOCK + p] = points[(i + p) * d + j];
          nearest(k, d, centres, columns, best);
          for (int p = 0; p < size; p++) {
            moved = moved || member[i + p] != best[p];
            member[i + p] = best[p];
            counts[best[p]]++;
#pragma omp simd
            for (int64_t j = 0; j < d; j++) sums[best[p] * d + j] += points[(i + p) * d + j];
          }
        }
        free(columns);
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
