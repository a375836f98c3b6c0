// Reference for bench/programs/fluid.fut: rows in lanes, whose ends are done by themselves.
#include "bench.h"

static inline int64_t before(int64_t i) { return i > 0 ? i - 1 : 0; }
static inline int64_t behind(int64_t i, int64_t n) { return i < n - 1 ? i + 1 : i; }

// Into x or y, in turn; the first round reads from start. What it ends with is returned.
static float *jacobi(int64_t n, int32_t rounds, float rows, float columns, float own, float share, const float *from, const float *start, float *x, float *y) {
  float factor = 1 / (own + 4 * share);
  const float *now = start;
  float *next = x;
  for (int32_t r = 0; r < rounds; r++) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
      const float *restrict here = now + i * n, *restrict f = from + i * n;
      const float *restrict north = now + before(i) * n, *restrict south = now + behind(i, n) * n;
      float above = i == 0 ? rows : 1, below = i == n - 1 ? rows : 1;
      float *restrict out = next + i * n;
      int64_t l = n - 1;
      float west = n > 1 ? here[l - 1] : columns * here[0], east = n > 1 ? here[1] : columns * here[0];
      out[0] = (f[0] + share * (above * north[0] + below * south[0] + columns * here[0] + east)) * factor;
      if (i > 0 && i < l) {
#pragma omp simd
        for (int64_t j = 1; j < l; j++)
          out[j] = (f[j] + share * (north[j] + south[j] + here[j - 1] + here[j + 1])) * factor;
      } else {
#pragma omp simd
        for (int64_t j = 1; j < l; j++)
          out[j] = (f[j] + share * (above * north[j] + below * south[j] + here[j - 1] + here[j + 1])) * factor;
      }
      if (n > 1) out[l] = (f[l] + share * (above * north[l] + below * south[l] + west + columns * here[l])) * factor;
    }
    now = next;
    next = now == x ? y : x;
  }
  return (float *)now;
}

// u and v in place; the others are room to work in.
static void project(int64_t n, int32_t rounds, float *restrict u, float *restrict v, float *sources, float *zero, float *x, float *y) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; i++) {
    const float *restrict north = u + before(i) * n, *restrict south = u + behind(i, n) * n, *restrict here = v + i * n;
    float above = i == 0 ? -1 : 1, below = i == n - 1 ? -1 : 1;
    float *restrict out = sources + i * n;
    int64_t l = n - 1;
    out[0] = -0.5f * (below * south[0] - above * north[0] + (n > 1 ? here[1] : -here[0]) + here[0]);
#pragma omp simd
    for (int64_t j = 1; j < l; j++) out[j] = -0.5f * (below * south[j] - above * north[j] + here[j + 1] - here[j - 1]);
    if (n > 1) out[l] = -0.5f * (below * south[l] - above * north[l] - here[l] - here[l - 1]);
  }
  const float *p = jacobi(n, rounds, 1, 1, 0, 1, sources, zero, x, y);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; i++) {
    const float *restrict north = p + before(i) * n, *restrict south = p + behind(i, n) * n, *restrict here = p + i * n;
    float *restrict a = u + i * n, *restrict b = v + i * n;
    int64_t l = n - 1;
#pragma omp simd
    for (int64_t j = 0; j < n; j++) a[j] -= 0.5f * (south[j] - north[j]);
    b[0] -= 0.5f * (here[n > 1] - here[0]);
#pragma omp simd
    for (int64_t j = 1; j < l; j++) b[j] -= 0.5f * (here[j + 1] - here[j - 1]);
    if (n > 1) b[l] -= 0.5f * (here[l] - here[l - 1]);
  }
}

// Both arrays at once, as the places are the same; the second may be missing.
static void advect(int64_t n, float time, const float *u, const float *v, const float *restrict x, float *restrict to, const float *restrict second, float *restrict second_to) {
  float last = (float)(n - 1);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; i++) {
#pragma omp simd
    for (int32_t j = 0; j < (int32_t)n; j++) {
      float y = (float)i - time * u[i * n + j], z = (float)j - time * v[i * n + j];
      y = y < last ? y : last;
      z = z < last ? z : last;
      y = y > 0 ? y : 0;
      z = z > 0 ? z : 0;
      int32_t i0 = (int32_t)y, j0 = (int32_t)z, i1 = i0 + 1 < n ? i0 + 1 : i0, j1 = j0 + 1 < n ? j0 + 1 : j0;
      float s = y - (float)i0, t = z - (float)j0;
      i0 *= (int32_t)n;
      i1 *= (int32_t)n;
      to[i * n + j] = (1 - s) * ((1 - t) * x[i0 + j0] + t * x[i0 + j1]) + s * ((1 - t) * x[i1 + j0] + t * x[i1 + j1]);
      if (second)
        second_to[i * n + j] = (1 - s) * ((1 - t) * second[i0 + j0] + t * second[i0 + j1]) + s * ((1 - t) * second[i1 + j0] + t * second[i1 + j1]);
    }
  }
}

int main(int argc, char **argv) {
  int32_t steps = read_i32(), rounds = read_i32();
  value given[3];
  float *now[3], *room[7];
  for (int k = 0; k < 3; k++) given[k] = read_value(" f32", 4);
  int64_t n = given[0].dims[0];
  size_t bytes = (size_t)(n * n) * 4;
  for (int k = 0; k < 3; k++) now[k] = malloc(bytes);
  for (int k = 0; k < 7; k++) room[k] = calloc(1, bytes);
  float *zero = room[6], *a = room[0], *b = room[1], *c = room[2], *d = room[3];
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    for (int k = 0; k < 3; k++) memcpy(now[k], given[k].data, bytes);
    for (int32_t s = 0; s < steps; s++) {
      float *u = jacobi(n, rounds, -1, 1, 1, 0.2f, now[0], now[0], a, b);
      float *v = jacobi(n, rounds, 1, -1, 1, 0.2f, now[1], now[1], c, d);
      project(n, rounds, u, v, now[0], zero, room[4], room[5]);
      advect(n, 2, u, v, u, now[0], v, now[1]);
      project(n, rounds, now[0], now[1], a, zero, b, c);
      advect(n, 2, now[0], now[1], jacobi(n, rounds, 1, 1, 1, 0.2f, now[2], now[2], a, b), c, NULL, NULL);
      float *other = now[2];
      now[2] = c;
      c = other;
    }
  }
  for (int k = 0; k < 3; k++) write_value(" f32", 4, (value){2, {n, n}, now[k]});
}
