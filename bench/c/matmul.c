// Reference for examples/matmul.fut.
#include "bench.h"

int main(int argc, char **argv) {
  value a = read_value(" f32", 4), b = read_value(" f32", 4);
  int64_t n = a.dims[0], m = a.dims[1], p = b.dims[1];
  const float *x = a.data, *y = b.data;
  float *out = malloc((size_t)(n * p) * 4);
  float *turned = malloc((size_t)(m * p) * 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    for (int64_t k = 0; k < m; k++)
      for (int64_t j = 0; j < p; j++) turned[j * m + k] = y[k * p + j];
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < p; j++) {
        float sum = 0;
        for (int64_t k = 0; k < m; k++) sum += x[i * m + k] * turned[j * m + k];
        out[i * p + j] = sum;
      }
  }
  write_value(" f32", 4, (value){2, {n, p}, out});
}
