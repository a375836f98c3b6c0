// Reference for examples/mandelbrot.fut, entry escape.
#include "bench.h"

static int32_t escapes(int32_t limit, float cr, float ci) {
  float zr = 0, zi = 0;
  int32_t n = 0;
  while (n < limit && zr * zr + zi * zi <= 4.0f) {
    float r = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = r;
    n++;
  }
  return n;
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
      for (int64_t x = 0; x < width; x++)
        out[y * width + x] = escapes(limit, left + step * (float)x, step * (float)y - 1.0f);
  }
  write_value(" i32", 4, (value){2, {height, width}, out});
}
