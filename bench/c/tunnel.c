// Reference for bench/programs/tunnel.fut: pixels of a row are side by side in lanes, each for all waves.
#include "bench.h"

int main(int argc, char **argv) {
  float time = *(float *)read_value(" f32", 4).data;
  int64_t h = read_i64(), w = read_i64();
  int32_t waves = read_i32();
  float *out = malloc((size_t)(h * w) * 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < h; i++) {
      float along[w], around[w], fade[w], y = 2 * (float)i / (float)h - 1, *restrict light = out + i * w;
#pragma omp simd
      for (int32_t j = 0; j < (int32_t)w; j++) {
        float x = 2 * (float)j / (float)w - 1, x2 = x * x, y2 = y * y, x4 = x2 * x2, y4 = y2 * y2;
        float far = 0.3f / (sqrtf(sqrtf(sqrtf(x4 * x4 + y4 * y4))) + 0.001f);
        along[j] = far + time;
        fade[j] = expf(-0.1f * far);
        light[j] = 0;
      }
#pragma omp simd
      for (int32_t j = 0; j < (int32_t)w; j++) around[j] = atan2f(y, 2 * (float)j / (float)w - 1) / (float)M_PI;
      for (int32_t k = 0; k < waves; k++) {
        float pitch = (float)(k + 1);
#pragma omp simd
        for (int32_t j = 0; j < (int32_t)w; j++)
          light[j] += cosf(pitch * (3 * along[j] + 0.7f * sinf(pitch * 5 * around[j]))) / pitch;
      }
#pragma omp simd
      for (int32_t j = 0; j < (int32_t)w; j++) light[j] = (0.5f + 0.25f * light[j]) * fade[j];
    }
  }
  write_value(" f32", 4, (value){2, {h, w}, out});
}
