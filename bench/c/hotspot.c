// Reference for bench/programs/hotspot.fut.
#include "bench.h"

static inline float next(float here, float north, float south, float west, float east, float power) {
  return here + 0.1f * power + 0.12f * (north + south - 2 * here) + 0.15f * (west + east - 2 * here) +
         0.01f * (0.5f - here);
}

static void step(int64_t n, int64_t m, const float *restrict t, const float *restrict power, float *restrict out) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; i++) {
    const float *here = t + i * m, *p = power + i * m;
    const float *north = i > 0 ? here - m : here, *south = i < n - 1 ? here + m : here;
    float *o = out + i * m;
    int64_t last = m - 1;
    o[0] = next(here[0], north[0], south[0], here[0], here[m > 1], p[0]);
#pragma omp simd
    for (int64_t j = 1; j < last; j++) o[j] = next(here[j], north[j], south[j], here[j - 1], here[j + 1], p[j]);
    if (m > 1) o[last] = next(here[last], north[last], south[last], here[last - 1], here[last], p[last]);
  }
}

int main(int argc, char **argv) {
  int32_t steps = read_i32();
  value heat = read_value(" f32", 4), power = read_value(" f32", 4);
  int64_t n = heat.dims[0], m = heat.dims[1];
  float *a = malloc((size_t)(n * m) * 4), *b = malloc((size_t)(n * m) * 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    memcpy(a, heat.data, (size_t)(n * m) * 4);
    for (int32_t s = 0; s < steps; s++) {
      step(n, m, a, power.data, b);
      float *other = a;
      a = b;
      b = other;
    }
  }
  write_value(" f32", 4, (value){2, {n, m}, a});
}
