// Reference for examples/mandelbrot.fut, entry escape: pixels side by side in lanes, which go on while one of them does.
#include "bench.h"
#define LANES 32

static inline void escapes(int32_t limit, const float cr[LANES], float ci, int32_t out[LANES]) {
  float zr[LANES] = {0}, zi[LANES] = {0};
  int32_t count[LANES] = {0}, inside[LANES], going = LANES;
  for (int l = 0; l < LANES; l++) inside[l] = 1;
  for (int32_t n = 0; n < limit && going != 0; n++) {
    going = 0;
#pragma omp simd reduction(+ : going)
    for (int l = 0; l < LANES; l++) {
      // A lane that has stopped goes on, unseen.
      inside[l] &= zr[l] * zr[l] + zi[l] * zi[l] <= 4.0f;
      float r = zr[l] * zr[l] - zi[l] * zi[l] + cr[l];
      zi[l] = 2.0f * zr[l] * zi[l] + ci;
      zr[l] = r;
      count[l] += inside[l];
      going += inside[l];
    }
  }
  memcpy(out, count, sizeof count);
}

int main(int argc, char **argv) {
  int64_t width = read_i64(), height = read_i64();
  int32_t limit = read_i32();
  int32_t *out = malloc((size_t)(width * height) * 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    float step = 2.0f / (float)(height - 1 > 1 ? height - 1 : 1);
    float left = -0.75f - step * (float)(width - 1) / 2.0f;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t y = 0; y < height; y++)
      for (int64_t x = 0; x < width; x += LANES) {
        float cr[LANES];
        int32_t some[LANES];
        for (int l = 0; l < LANES; l++) cr[l] = left + step * (float)(x + l);
        escapes(limit, cr, step * (float)y - 1.0f, some);
        memcpy(out + y * width + x, some, (size_t)(width - x < LANES ? width - x : LANES) * 4);
      }
  }
  write_value(" i32", 4, (value){2, {height, width}, out});
}
