// Reference for examples/sobol.fut.
#include "bench.h"

static void directions(uint32_t v[32], int s, uint32_t a, const uint32_t *m) {
  for (int i = 0; i < 32; i++) v[i] = i < s ? m[i] << (31 - i) : 0;
  for (int i = s; i < 32; i++) {
    v[i] = v[i - s] ^ (v[i - s] >> s);
    for (int k = 1; k < s; k++)
      if ((a >> (s - 1 - k)) & 1) v[i] ^= v[i - k];
  }
}

static double coordinate(const uint32_t v[32], uint32_t i) {
  uint32_t gray = i ^ (i >> 1), bits = 0;
  for (int k = 0; k < 32; k++)
    if ((gray >> k) & 1) bits ^= v[k];
  return (double)bits / 4294967296.0;
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
    for (int64_t i = 0; i < n; i++)
      sum += sin(M_PI * coordinate(v[0], (uint32_t)i)) * sin(M_PI * coordinate(v[1], (uint32_t)i)) *
             sin(M_PI * coordinate(v[2], (uint32_t)i));
    mean = n == 0 ? 0 : sum / (double)n;
  }
  write_value(" f64", 8, (value){0, {0}, &mean});
}
