// Reference for bench/programs/spmv.fut: rows are shared out as OMP_SCHEDULE says; with -DLANES a row is summed in lanes.
#include "bench.h"

static void times(int64_t n, const int64_t *restrict offsets, const int32_t *restrict js, const double *restrict as,
                  const double *restrict x, double *restrict y) {
#pragma omp parallel for schedule(runtime)
  for (int64_t i = 0; i < n; i++) {
    double sum = 0;
#ifdef LANES
#pragma omp simd reduction(+ : sum)
#endif
    for (int64_t e = offsets[i]; e < offsets[i + 1]; e++) sum += as[e] * x[js[e]];
    y[i] = sum;
  }
}

int main(int argc, char **argv) {
  int64_t n = read_value(" i64", 8).dims[0];
  value js = read_value(" i32", 4), as = read_value(" f64", 8), offsets = read_value(" i64", 8), x = read_value(" f64", 8);
  double *y = malloc((size_t)n * 8 + 8);
  for (timer t = timer_start(argc, argv); timer_next(&t);) times(n, offsets.data, js.data, as.data, x.data, y);
  write_value(" f64", 8, (value){1, {n}, y});
}
