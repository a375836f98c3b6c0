// Reference for bench/programs/mriq.fut. With -ffast-math sines and cosines are computed by loops of their own, since beside
// each other they become a call of `sincosf`, which gcc does not do in lanes. Else that call is the fastest way.
#include "bench.h"
#define BLOCK 256

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
      float a = 0, b = 0, angle[BLOCK];
      for (int64_t from = 0; from < k; from += BLOCK) {
        int64_t size = k - from < BLOCK ? k - from : BLOCK;
        for (int64_t j = 0; j < size; j++)
          angle[j] = 2 * (float)M_PI * (kx[from + j] * x[i] + ky[from + j] * y[i] + kz[from + j] * z[i]);
#ifdef __FAST_MATH__
        for (int64_t j = 0; j < size; j++) a += w[from + j] * cosf(angle[j]);
        for (int64_t j = 0; j < size; j++) b += w[from + j] * sinf(angle[j]);
#else
        for (int64_t j = 0; j < size; j++) {
          a += w[from + j] * cosf(angle[j]);
          b += w[from + j] * sinf(angle[j]);
        }
#endif
      }
      re[i] = a;
      im[i] = b;
    }
  }
  write_value(" f32", 4, (value){1, {n}, re});
  write_value(" f32", 4, (value){1, {n}, im});
}
