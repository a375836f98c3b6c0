// examples/mandelbrot.fut, entry escape, by hand for registers of 256 bits: four of them side by side, which go on while a pixel does.
#include "bench.h"
#ifdef __AVX2__
#include <immintrin.h>
#define REGISTERS 4
#define LANES (8 * REGISTERS)

static inline void escapes(int32_t limit, const __m256 cr[REGISTERS], __m256 ci, __m256i out[REGISTERS]) {
  __m256 zr[REGISTERS], zi[REGISTERS], inside[REGISTERS];
  const __m256 four = _mm256_set1_ps(4.0f);
  for (int k = 0; k < REGISTERS; k++) {
    zr[k] = zi[k] = _mm256_setzero_ps();
    inside[k] = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    out[k] = _mm256_setzero_si256();
  }
  for (int32_t n = 0; n < limit; n++) {
    __m256 any = _mm256_setzero_ps();
#pragma GCC unroll 4
    for (int k = 0; k < REGISTERS; k++) {
      __m256 rr = _mm256_mul_ps(zr[k], zr[k]), ii = _mm256_mul_ps(zi[k], zi[k]);
      __m256 holds = _mm256_cmp_ps(_mm256_add_ps(rr, ii), four, _CMP_LE_OQ);
      // A lane that has stopped goes on, unseen.
      inside[k] = _mm256_and_ps(inside[k], holds);
      any = _mm256_or_ps(any, inside[k]);
      // All bits set are -1.
      out[k] = _mm256_sub_epi32(out[k], _mm256_castps_si256(inside[k]));
      zi[k] = _mm256_add_ps(_mm256_mul_ps(_mm256_add_ps(zr[k], zr[k]), zi[k]), ci);
      zr[k] = _mm256_add_ps(_mm256_sub_ps(rr, ii), cr[k]);
    }
    if (_mm256_movemask_ps(any) == 0) break;
  }
}

int main(int argc, char **argv) {
  int64_t width = read_i64(), height = read_i64();
  int32_t limit = read_i32();
  int32_t *out = malloc((size_t)(width * height) * 4);
  const __m256 lanes = _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    float step = 2.0f / (float)(height - 1 > 1 ? height - 1 : 1);
    float left = -0.75f - step * (float)(width - 1) / 2.0f;
#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t y = 0; y < height; y++)
      for (int64_t x = 0; x < width; x += LANES) {
        __m256 cr[REGISTERS];
        __m256i some[REGISTERS];
        for (int k = 0; k < REGISTERS; k++) {
          __m256 place = _mm256_add_ps(_mm256_set1_ps((float)(x + 8 * k)), lanes);
          cr[k] = _mm256_add_ps(_mm256_set1_ps(left), _mm256_mul_ps(_mm256_set1_ps(step), place));
        }
        escapes(limit, cr, _mm256_set1_ps(step * (float)y - 1.0f), some);
        memcpy(out + y * width + x, some, (size_t)(width - x < LANES ? width - x : LANES) * 4);
      }
  }
  write_value(" i32", 4, (value){2, {height, width}, out});
}
#else
int main(void) {
  fputs("this is for processors with AVX2\n", stderr);
  return 1;
}
#endif
