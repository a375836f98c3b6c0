// Reference for bench/programs/map.fut.
#include "bench.h"

static void work(int64_t n, const float *restrict x, float *restrict out) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; i++) out[i] = 2 * x[i] + 1;
}

int main(int argc, char **argv) {
  value x = read_value(" f32", 4);
  float *out = malloc((size_t)x.dims[0] * 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) work(x.dims[0], x.data, out);
  write_value(" f32", 4, (value){1, {x.dims[0]}, out});
}
