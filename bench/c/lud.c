// Reference for bench/programs/lud.fut: right-looking in place, in blocks, of which the rest is changed in tiles that stay in registers.
#include "bench.h"
#define BLOCK 64
#define ROWS 8
#define COLUMNS 32

// The block at `a`, whose rows are `n` apart.
static void diagonal(int64_t n, float *restrict a) {
  for (int64_t k = 0; k < BLOCK; k++)
    for (int64_t i = k + 1; i < BLOCK; i++) {
      float l = a[i * n + k] /= a[k * n + k];
#pragma omp simd
      for (int64_t j = k + 1; j < BLOCK; j++) a[i * n + j] -= l * a[k * n + j];
    }
}

// `COLUMNS` columns on the right of a block that is decomposed.
static void right(int64_t n, const float *restrict d, float *restrict a) {
  for (int64_t i = 1; i < BLOCK; i++) {
    float row[COLUMNS];
    memcpy(row, a + i * n, sizeof row);
    for (int64_t j = 0; j < i; j++)
#pragma omp simd
      for (int64_t c = 0; c < COLUMNS; c++) row[c] -= d[i * n + j] * a[j * n + c];
    memcpy(a + i * n, row, sizeof row);
  }
}

// A row below it.
static void below(int64_t n, const float *restrict d, float *restrict a) {
  for (int64_t j = 0; j < BLOCK; j++) {
    float x = a[j] /= d[j * n + j];
#pragma omp simd
    for (int64_t i = j + 1; i < BLOCK; i++) a[i] -= x * d[j * n + i];
  }
}

// A tile of the rest.
static inline void tile(int64_t n, const float *restrict l, const float *restrict u, float *restrict a) {
  float sums[ROWS][COLUMNS];
  for (int r = 0; r < ROWS; r++) memcpy(sums[r], a + r * n, sizeof sums[r]);
  for (int64_t k = 0; k < BLOCK; k++)
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma omp simd
      for (int c = 0; c < COLUMNS; c++) sums[r][c] -= l[r * n + k] * u[k * n + c];
  for (int r = 0; r < ROWS; r++) memcpy(a + r * n, sums[r], sizeof sums[r]);
}

int main(int argc, char **argv) {
  value in = read_value(" f32", 4);
  int64_t n = in.dims[0];
  if (n % BLOCK != 0) fail("no whole number of blocks");
  float *a = aligned_alloc(64, (size_t)(n * n) * 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    memcpy(a, in.data, (size_t)(n * n) * 4);
    timer_restart(&t);
#pragma omp parallel
    for (int64_t k = 0; k < n; k += BLOCK) {
      float *d = a + k * n + k;
#pragma omp single
      diagonal(n, d);
#pragma omp for schedule(static) nowait
      for (int64_t j = k + BLOCK; j < n; j += COLUMNS) right(n, d, a + k * n + j);
#pragma omp for schedule(static)
      for (int64_t i = k + BLOCK; i < n; i++) below(n, d, a + i * n + k);
#pragma omp for schedule(static)
      for (int64_t i = k + BLOCK; i < n; i += BLOCK)
        for (int64_t j = k + BLOCK; j < n; j += COLUMNS)
          for (int64_t r = i; r < i + BLOCK; r += ROWS) tile(n, a + r * n + k, a + k * n + j, a + r * n + j);
    }
  }
  write_value(" f32", 4, (value){2, {n, n}, a});
}
