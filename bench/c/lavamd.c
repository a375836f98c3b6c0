// Reference for bench/programs/lavamd.fut: the particles of a box in lanes for each particle that they act upon.
#include "bench.h"

int main(int argc, char **argv) {
  int64_t b = read_i64();
  float alpha = *(float *)read_value(" f32", 4).data;
  value in[4];
  for (int i = 0; i < 4; i++) in[i] = read_value(" f32", 4);
  int64_t m = in[0].dims[0], n = in[0].dims[1];
  const float *xs = in[0].data, *ys = in[1].data, *zs = in[2].data, *charges = in[3].data;
  float *out[4];
  for (int i = 0; i < 4; i++) out[i] = malloc((size_t)(m * n) * 4 + 4);
  if (b * b * b != m) fail("not so many boxes");
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    float falls = 2 * alpha * alpha;
#pragma omp parallel for schedule(dynamic)
    for (int64_t box = 0; box < m; box++) {
      int64_t i = box / (b * b), j = box / b % b, k = box % b;
      float *restrict v = out[0] + box * n, *restrict x = out[1] + box * n;
      float *restrict y = out[2] + box * n, *restrict z = out[3] + box * n;
      memset(v, 0, (size_t)n * 4), memset(x, 0, (size_t)n * 4);
      memset(y, 0, (size_t)n * 4), memset(z, 0, (size_t)n * 4);
      for (int64_t di = i > 0 ? -1 : 0; di <= (i < b - 1); di++)
        for (int64_t dj = j > 0 ? -1 : 0; dj <= (j < b - 1); dj++)
          for (int64_t dk = k > 0 ? -1 : 0; dk <= (k < b - 1); dk++) {
            int64_t other = (box + (di * b + dj) * b + dk) * n;
            const float *restrict ox = xs + other, *restrict oy = ys + other;
            const float *restrict oz = zs + other, *restrict oq = charges + other;
            for (int64_t p = 0; p < n; p++) {
              float px = xs[box * n + p] - (float)di, py = ys[box * n + p] - (float)dj;
              float pz = zs[box * n + p] - (float)dk, fv = 0, fx = 0, fy = 0, fz = 0;
#pragma omp simd reduction(+ : fv, fx, fy, fz)
              for (int64_t o = 0; o < n; o++) {
                float dx = px - ox[o], dy = py - oy[o], dz = pz - oz[o];
                float u = oq[o] * expf(-falls * (dx * dx + dy * dy + dz * dz)), f = 2 * falls * u;
                fv += u, fx += f * dx, fy += f * dy, fz += f * dz;
              }
              v[p] += fv, x[p] += fx, y[p] += fy, z[p] += fz;
            }
          }
    }
  }
  for (int i = 0; i < 4; i++) write_value(" f32", 4, (value){2, {m, n}, out[i]});
}
