// Reference for examples/nbody.fut, entry main.
#include "bench.h"

typedef struct {
  float x, y, z, m;
} body;

int main(int argc, char **argv) {
  int64_t n = read_i64();
  int32_t steps = read_i32();
  body *b = malloc((size_t)n * sizeof *b);
  float *speeds = malloc((size_t)n * 12), *out = malloc((size_t)n * 12);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    for (int64_t i = 0; i < n; i++) {
      float u = ((float)i + 0.5f) / (float)n, h = 1.0f - 2.0f * u;
      float r = sqrtf(fmaxf(0.0f, 1.0f - h * h)), angle = 2.3999632f * (float)i;
      b[i] = (body){r * cosf(angle), r * sinf(angle), h, 1.0f / (float)n};
    }
    memset(speeds, 0, (size_t)n * 12);
    for (int32_t s = 0; s < steps; s++) {
#pragma omp parallel for
      for (int64_t i = 0; i < n; i++) {
        float ax = 0, ay = 0, az = 0;
        for (int64_t j = 0; j < n; j++) {
          float dx = b[j].x - b[i].x, dy = b[j].y - b[i].y, dz = b[j].z - b[i].z;
          float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
          float f = b[j].m / (r2 * sqrtf(r2));
          ax += f * dx;
          ay += f * dy;
          az += f * dz;
        }
        speeds[3 * i] += 0.01f * ax;
        speeds[3 * i + 1] += 0.01f * ay;
        speeds[3 * i + 2] += 0.01f * az;
      }
      for (int64_t i = 0; i < n; i++) {
        b[i].x += 0.01f * speeds[3 * i];
        b[i].y += 0.01f * speeds[3 * i + 1];
        b[i].z += 0.01f * speeds[3 * i + 2];
      }
    }
  }
  for (int64_t i = 0; i < n; i++) {
    out[i] = b[i].x;
    out[n + i] = b[i].y;
    out[2 * n + i] = b[i].z;
  }
  for (int k = 0; k < 3; k++) write_value(" f32", 4, (value){1, {n}, out + k * n});
}
