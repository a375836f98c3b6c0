// Reference for bench/programs/mriq.fut.
#include "bench.h"

int main(int argc, char **argv) {
  value v[7];
  for (int i = 0; i < 7; i++) v[i] = read_value(" f32", 4);
  const float *restrict kx = v[0].data, *restrict ky = v[1].data, *restrict kz = v[2].data, *restrict w = v[3].data;
  const float *restrict x = v[4].data, *restrict y = v[5].data, *restrict z = v[6].data;
  int64_t k = v[0].dims[0], n = v[4].dims[0];
  float *restrict re = malloc((size_t)n * 4), *restrict im = malloc((size_t)n * 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
      float a = 0, b = 0;
#pragma omp simd reduction(+ : a, b)
      for (int64_t j = 0; j < k; j++) {
        float angle = 2 * (float)M_PI * (kx[j] * x[i] + ky[j] * y[i] + kz[j] * z[i]);
        a += w[j] * cosf(angle);
        b += w[j] * sinf(angle);
      }
      re[i] = a;
      im[i] = b;
    }
  }
  write_value(" f32", 4, (value){1, {n}, re});
  write_value(" f32", 4, (value){1, {n}, im});
}
