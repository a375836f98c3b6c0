// Reference for examples/matmul.fut: in blocks that stay in registers and in the nearest cache.
#include "bench.h"
#define ROWS 6
#define COLUMNS 32
#define DEPTH 256

// Adds to a block of ROWS x COLUMNS what `depth` columns of `x` and rows of `y` give.
static inline void block(int64_t depth, const float *restrict x, int64_t m, const float *restrict y, int64_t p,
                         float *restrict out) {
  float sums[ROWS][COLUMNS];
  for (int r = 0; r < ROWS; r++) memcpy(sums[r], out + r * p, sizeof sums[r]);
  for (int64_t k = 0; k < depth; k++)
#pragma GCC unroll 6
    for (int r = 0; r < ROWS; r++)
#pragma omp simd
      for (int c = 0; c < COLUMNS; c++) sums[r][c] += x[r * m + k] * y[k * p + c];
  for (int r = 0; r < ROWS; r++) memcpy(out + r * p, sums[r], sizeof sums[r]);
}

// The same for blocks of other sizes, at the edges.
static void edge(int64_t rows, int64_t columns, int64_t depth, const float *restrict x, int64_t m,
                 const float *restrict y, int64_t p, float *restrict out) {
  for (int64_t r = 0; r < rows; r++)
    for (int64_t k = 0; k < depth; k++)
#pragma omp simd
      for (int64_t c = 0; c < columns; c++) out[r * p + c] += x[r * m + k] * y[k * p + c];
}

static void product(int64_t n, int64_t m, int64_t p, const float *restrict x, const float *restrict y,
                    float *restrict out) {
#pragma omp parallel for schedule(dynamic)
  for (int64_t i = 0; i < n; i += 8 * ROWS) {
    int64_t end = i + 8 * ROWS < n ? i + 8 * ROWS : n;
    memset(out + i * p, 0, (size_t)((end - i) * p) * 4);
    for (int64_t k = 0; k < m; k += DEPTH) {
      int64_t depth = m - k < DEPTH ? m - k : DEPTH;
      for (int64_t j = 0; j < p; j += COLUMNS) {
        int64_t columns = p - j < COLUMNS ? p - j : COLUMNS;
        for (int64_t r = i; r < end; r += ROWS) {
          const float *from = x + r * m + k, *with = y + k * p + j;
          float *to = out + r * p + j;
          if (end - r >= ROWS && columns == COLUMNS)
            block(depth, from, m, with, p, to);
          else
            edge(end - r < ROWS ? end - r : ROWS, columns, depth, from, m, with, p, to);
        }
      }
    }
  }
}

int main(int argc, char **argv) {
  value a = read_value(" f32", 4), b = read_value(" f32", 4);
  int64_t n = a.dims[0], m = a.dims[1], p = b.dims[1];
  float *out = malloc((size_t)(n * p) * 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) product(n, m, p, a.data, b.data, out);
  write_value(" f32", 4, (value){2, {n, p}, out});
}
