// Reference for bench/programs/stencil.fut: rows of as many planes as the caches keep side by side, one after the other.
#include "bench.h"
#define ROWS 32

static void step(int64_t l, int64_t n, int64_t m, const float *restrict a, float *restrict b) {
  int64_t plane = n * m;
  const float sixth = 1 / 6.0f;
#pragma omp parallel for schedule(static)
  for (int64_t strip = 1; strip < n - 1; strip += ROWS) {
    int64_t end = strip + ROWS < n - 1 ? strip + ROWS : n - 1;
    for (int64_t z = 1; z < l - 1; z++)
      for (int64_t y = strip; y < end; y++) {
        const float *restrict here = a + z * plane + y * m;
        float *restrict out = b + z * plane + y * m;
#pragma omp simd
        for (int64_t x = 1; x < m - 1; x++)
          out[x] = (here[x - plane] + here[x + plane] + here[x - m] + here[x + m] + here[x - 1] + here[x + 1]) * sixth - here[x] * sixth;
      }
  }
}

int main(int argc, char **argv) {
  int32_t steps = read_i32();
  value block = read_value(" f32", 4);
  int64_t l = block.dims[0], n = block.dims[1], m = block.dims[2];
  float *a = malloc(count(block) * 4), *b = malloc(count(block) * 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    // The surface is the same in both.
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < l * n; i++) {
      memcpy(a + i * m, (float *)block.data + i * m, (size_t)m * 4);
      memcpy(b + i * m, (float *)block.data + i * m, (size_t)m * 4);
    }
    for (int32_t s = 0; s < steps; s++) {
      step(l, n, m, a, b);
      float *other = a;
      a = b;
      b = other;
    }
  }
  write_value(" f32", 4, (value){3, {l, n, m}, a});
}
