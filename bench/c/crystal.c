// Reference for bench/programs/crystal.fut.
#include "bench.h"

static float folded(float v) {
  float whole = floorf(v), rest = v - whole;
  return (int32_t)whole % 2 == 0 ? rest : 1 - rest;
}

int main(int argc, char **argv) {
  int64_t n = read_i64();
  float scale = *(float *)read_value(" f32", 4).data;
  int32_t waves = read_i32();
  float *out = malloc((size_t)(n * n) * 4);
  float *restrict c = malloc((size_t)waves * 4), *restrict s = malloc((size_t)waves * 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    for (int32_t w = 0; w < waves; w++) {
      float angle = (float)M_PI * (float)w / (float)waves;
      c[w] = cosf(angle);
      s[w] = sinf(angle);
    }
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++) {
        float x = scale * ((float)j / (float)n - 0.5f), y = scale * ((float)i / (float)n - 0.5f), sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int32_t w = 0; w < waves; w++) sum += (cosf(c[w] * x + s[w] * y) + 1) / 2;
        out[i * n + j] = folded(sum);
      }
  }
  write_value(" f32", 4, (value){2, {n, n}, out});
}
