// Reference for examples/nbody.fut, entry main.
#include "bench.h"

// The acceleration of a body by all.
static inline void pull(int64_t n, int64_t i, float *const restrict at[3], const float *restrict mass, float a[3]) {
  const float *restrict x = at[0], *restrict y = at[1], *restrict z = at[2];
  float ax = 0, ay = 0, az = 0, xi = x[i], yi = y[i], zi = z[i];
#pragma omp simd reduction(+ : ax, ay, az)
  for (int64_t j = 0; j < n; j++) {
    float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
    float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
    float f = mass[j] / (r2 * sqrtf(r2));
    ax += f * dx;
    ay += f * dy;
    az += f * dz;
  }
  a[0] = ax;
  a[1] = ay;
  a[2] = az;
}

int main(int argc, char **argv) {
  int64_t n = read_i64();
  int32_t steps = read_i32();
  float *at[3], *speed[3], *mass = malloc((size_t)n * 4);
  for (int k = 0; k < 3; k++) {
    at[k] = malloc((size_t)n * 4);
    speed[k] = malloc((size_t)n * 4);
  }
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    for (int64_t i = 0; i < n; i++) {
      float u = ((float)i + 0.5f) / (float)n, h = 1.0f - 2.0f * u;
      float r = sqrtf(fmaxf(0.0f, 1.0f - h * h)), angle = 2.3999632f * (float)i;
      at[0][i] = r * cosf(angle);
      at[1][i] = r * sinf(angle);
      at[2][i] = h;
      mass[i] = 1.0f / (float)n;
    }
    for (int k = 0; k < 3; k++) memset(speed[k], 0, (size_t)n * 4);
    for (int32_t s = 0; s < steps; s++) {
#pragma omp parallel for
      for (int64_t i = 0; i < n; i++) {
        float a[3];
        pull(n, i, at, mass, a);
        for (int k = 0; k < 3; k++) speed[k][i] += 0.01f * a[k];
      }
      for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < n; i++) at[k][i] += 0.01f * speed[k][i];
    }
  }
  for (int k = 0; k < 3; k++) write_value(" f32", 4, (value){1, {n}, at[k]});
}
