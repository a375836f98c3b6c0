// Reference for examples/sobol.fut: blocks of points, for which coordinates and sines are computed in lanes.
#include "bench.h"
#define BLOCK 256

static void directions(uint32_t v[32], int s, uint32_t a, const uint32_t *m) {
  for (int i = 0; i < 32; i++) v[i] = i < s ? m[i] << (31 - i) : 0;
  for (int i = s; i < 32; i++) {
    v[i] = v[i - s] ^ (v[i - s] >> s);
    for (int k = 1; k < s; k++)
      if ((a >> (s - 1 - k)) & 1) v[i] ^= v[i - k];
  }
}

// The coordinates of `BLOCK` points from `first` on.
static inline void coordinates(const uint32_t *restrict v, uint32_t first, double *restrict out) {
  uint32_t gray[BLOCK], bits[BLOCK] = {0};
  for (uint32_t l = 0; l < BLOCK; l++) gray[l] = (first + l) ^ ((first + l) >> 1);
  for (int l = 0; l < BLOCK; l += 16)
    for (int k = 0; k < 32; k++)
#pragma omp simd
      for (int m = l; m < l + 16; m++) bits[m] ^= v[k] & -((gray[m] >> k) & 1);
#pragma omp simd
  for (int l = 0; l < BLOCK; l++) out[l] = M_PI * ((double)bits[l] / 4294967296.0);
}

int main(int argc, char **argv) {
  int64_t n = read_i64();
  double mean = 0;
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    uint32_t v[3][32], one[1] = {1}, two[2] = {1, 3};
    for (int i = 0; i < 32; i++) v[0][i] = 1u << (31 - i);
    directions(v[1], 1, 0, one);
    directions(v[2], 2, 1, two);
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int64_t i = 0; i < n; i += BLOCK) {
      double x[3][BLOCK];
      for (int d = 0; d < 3; d++) coordinates(v[d], (uint32_t)i, x[d]);
      int size = n - i < BLOCK ? (int)(n - i) : BLOCK;
#pragma omp simd reduction(+ : sum)
      for (int l = 0; l < size; l++) sum += sin(x[0][l]) * sin(x[1][l]) * sin(x[2][l]);
    }
    mean = n == 0 ? 0 : sum / (double)n;
  }
  write_value(" f64", 8, (value){0, {0}, &mean});
}
