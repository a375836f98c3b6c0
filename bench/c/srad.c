// Reference for bench/programs/srad.fut. The sums of a step are taken while the step before it moves the image.
#include "bench.h"

static inline float coefficient(float here, float n, float s, float w, float e, float speckle, float scale) {
  float north = n - here, south = s - here, west = w - here, east = e - here;
  float gradient = (north * north + south * south + west * west + east * east) / (here * here);
  float laplacian = (north + south + west + east) / here;
  float d = 1 + 0.25f * laplacian;
  float q = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (d * d);
  float c = 1 / (1 + (q - speckle) / scale);
  c = c < 1 ? c : 1;
  return c > 0 ? c : 0;
}

static inline float moved(float here, float n, float s, float w, float e, float c, float down, float right) {
  return here + 0.125f * (c * (n - here) + down * (s - here) + c * (w - here) + right * (e - here));
}

int main(int argc, char **argv) {
  int32_t steps = read_i32();
  value image = read_value("  u8", 1);
  const uint8_t *pixels = image.data;
  int64_t n = image.dims[0], m = image.dims[1], all = n * m, last = m - 1;
  float *a = malloc((size_t)all * 4), *b = malloc((size_t)all * 4), *coefficients = malloc((size_t)all * 4);
  float *result = malloc((size_t)all * 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    float sum = 0, squares = 0;
#pragma omp parallel for simd reduction(+ : sum, squares) schedule(static)
    for (int64_t i = 0; i < all; i++) {
      a[i] = expf((float)pixels[i] / 255);
      sum += a[i];
      squares += a[i] * a[i];
    }
    for (int32_t k = 0; k < steps; k++) {
      float mean = sum / (float)all;
      float speckle = (squares / (float)all - mean * mean) / (mean * mean), scale = speckle * (1 + speckle);
      sum = squares = 0;
#pragma omp parallel reduction(+ : sum, squares)
      {
#pragma omp for schedule(static)
        for (int64_t y = 0; y < n; y++) {
          const float *restrict here = a + y * m, *restrict north = y > 0 ? here - m : here;
          const float *restrict south = y < n - 1 ? here + m : here;
          float *restrict c = coefficients + y * m;
          c[0] = coefficient(here[0], north[0], south[0], here[0], here[m > 1], speckle, scale);
#pragma omp simd
          for (int64_t x = 1; x < last; x++)
            c[x] = coefficient(here[x], north[x], south[x], here[x - 1], here[x + 1], speckle, scale);
          c[last] = coefficient(here[last], north[last], south[last], here[m > 1 ? last - 1 : 0], here[last], speckle, scale);
        }
#pragma omp for schedule(static)
        for (int64_t y = 0; y < n; y++) {
          const float *restrict here = a + y * m, *restrict north = y > 0 ? here - m : here;
          const float *restrict south = y < n - 1 ? here + m : here;
          const float *restrict c = coefficients + y * m, *restrict down = y < n - 1 ? c + m : c;
          float *restrict out = b + y * m;
          out[0] = moved(here[0], north[0], south[0], here[0], here[m > 1], c[0], down[0], c[m > 1]);
#pragma omp simd
          for (int64_t x = 1; x < last; x++)
            out[x] = moved(here[x], north[x], south[x], here[x - 1], here[x + 1], c[x], down[x], c[x + 1]);
          out[last] = moved(here[last], north[last], south[last], here[m > 1 ? last - 1 : 0], here[last], c[last], down[last], c[last]);
#pragma omp simd reduction(+ : sum, squares)
          for (int64_t x = 0; x < m; x++) {
            sum += out[x];
            squares += out[x] * out[x];
          }
        }
      }
      float *other = a;
      a = b;
      b = other;
    }
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < all; i++) result[i] = 255 * logf(a[i]);
  }
  write_value(" f32", 4, (value){2, {n, m}, result});
}
