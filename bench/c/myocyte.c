// Reference for bench/programs/myocyte.fut: a block of strands side by side in lanes, in all of whose steps it stays in the nearest cache.
// With -ffast-math exponentials are computed in lanes, both sides of conditions, too; else only what is needed.
#include "bench.h"
#define LANES 16
#define CELLS 3

enum { V, M, H, J, D, F, X, CA, EQUATIONS };
typedef float cell[EQUATIONS][LANES];

#ifdef __FAST_MATH__
static inline float choose(bool which, float a, float b) { return which ? a : b; }
#else
#define choose(which, a, b) ((which) ? (a) : (b))
#endif

static inline float bernoulli(float x) { return choose(fabsf(x) < 1e-3f, 1 + 0.5f * x, x / (1 - expf(-x))); }
static inline float gate(float opens, float closes, float y) { return opens * (1 - y) - closes * y; }

static inline void change(const float *restrict given, cell c, cell out) {
#pragma omp simd
  for (int l = 0; l < LANES; l++) {
    float v = c[V][l];
    bool low = v < -40;
    float m = gate(3.2f * bernoulli(0.1f * (v + 47.13f)), 0.08f * expf(-v / 11), c[M][l]);
    float h = gate(choose(low, 0.135f * expf((80 + v) / -6.8f), 0.0f),
                   choose(low, 3.56f * expf(0.079f * v) + 3.1e5f * expf(0.35f * v),
                          1 / (0.13f * (1 + expf((v + 10.66f) / -11.1f)))),
                   c[H][l]);
    float j = gate(choose(low, (-1.2714e5f * expf(0.2444f * v) - 3.474e-5f * expf(-0.04391f * v)) * (v + 37.78f) /
                                   (1 + expf(0.311f * (v + 79.23f))), 0.0f),
                   choose(low, 0.1212f * expf(-0.01052f * v) / (1 + expf(-0.1378f * (v + 40.14f))),
                          0.3f * expf(-2.535e-7f * v) / (1 + expf(-0.1f * (v + 32)))),
                   c[J][l]);
    float sodium = 23 * c[M][l] * c[M][l] * c[M][l] * c[H][l] * c[J][l] * (v - 54.4f);
    float d = gate(0.095f * expf(-0.01f * (v - 5)) / (1 + expf(-0.072f * (v - 5))),
                   0.07f * expf(-0.017f * (v + 44)) / (1 + expf(0.05f * (v + 44))), c[D][l]);
    float f = gate(0.012f * expf(-0.008f * (v + 28)) / (1 + expf(0.15f * (v + 28))),
                   0.0065f * expf(-0.02f * (v + 30)) / (1 + expf(-0.2f * (v + 30))), c[F][l]);
    float calcium = 0.09f * c[D][l] * c[F][l] * (v - (7.7f - 13.0287f * logf(c[CA][l])));
    float x = gate(0.0005f * expf(0.083f * (v + 50)) / (1 + expf(0.057f * (v + 50))),
                   0.0013f * expf(-0.06f * (v + 20)) / (1 + expf(-0.04f * (v + 20))), c[X][l]);
    float turned = choose(v > -100, 2.837f * 0.04f * expf(1.68f) / bernoulli(0.04f * (v + 77)), 1.0f);
    float e = v + 87.26f;
    float opens = 1.02f / (1 + expf(0.2385f * (e - 59.215f)));
    float closes = (0.49124f * expf(0.08032f * (e + 5.476f)) + expf(0.06175f * (e - 594.31f))) /
                   (1 + expf(-0.5143f * (e + 4.753f)));
    float potassium = 0.282f * c[X][l] * turned * (v + 77) +
                      (0.6047f * opens / (opens + closes) + 0.0183f / (1 + expf((7.488f - v) / 5.98f))) * e;
    float leak = 0.03921f * (v + 59.87f);
    out[V][l] = given[l] - (sodium + calcium + potassium + leak);
    out[M][l] = m, out[H][l] = h, out[J][l] = j, out[D][l] = d, out[F][l] = f, out[X][l] = x;
    out[CA][l] = -1e-4f * calcium + 0.07f * (1e-4f - c[CA][l]);
  }
}

static inline void changes(const float *restrict current, const float *restrict coupling, cell s[CELLS],
                           cell out[CELLS]) {
  for (int i = 0; i < CELLS; i++) {
    float given[LANES];
    for (int l = 0; l < LANES; l++) {
      float left = i > 0 ? coupling[l] * (s[i][V][l] - s[i - 1][V][l]) : -current[l];
      float right = i + 1 < CELLS ? coupling[l] * (s[i + 1][V][l] - s[i][V][l]) : 0;
      given[l] = right - left;
    }
    change(given, s[i], out[i]);
  }
}

// `out = s + t * k`.
static inline void moved(float t, cell s[CELLS], cell k[CELLS], cell out[CELLS]) {
  for (int i = 0; i < CELLS; i++)
    for (int e = 0; e < EQUATIONS; e++)
#pragma omp simd
      for (int l = 0; l < LANES; l++) out[i][e][l] = s[i][e][l] + t * k[i][e][l];
}

int main(int argc, char **argv) {
  static const float rest[EQUATIONS] = {-84.5f, 0.0017f, 0.9832f, 0.9895f, 0.003f, 1, 0.0057f, 1.8e-4f};
  int32_t steps = read_i32();
  value c = read_value(" f32", 4), g = read_value(" f32", 4);
  int64_t n = c.dims[0];
  const float *currents = c.data, *couplings = g.data;
  float *out[4], dt = 0.01f;
  for (int i = 0; i < 4; i++) out[i] = malloc((size_t)n * 4 + 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
#pragma omp parallel for schedule(static)
    for (int64_t from = 0; from < n; from += LANES) {
      int size = n - from < LANES ? (int)(n - from) : LANES;
      float current[LANES] = {0}, coupling[LANES] = {0};
      cell s[CELLS], next[CELLS], at[CELLS], k[CELLS];
      for (int l = 0; l < size; l++) current[l] = 80 * currents[from + l], coupling[l] = couplings[from + l];
      for (int i = 0; i < CELLS; i++)
        for (int e = 0; e < EQUATIONS; e++)
          for (int l = 0; l < LANES; l++) s[i][e][l] = rest[e];
      for (int32_t step = 0; step < steps; step++) {
        changes(current, coupling, s, k);
        moved(dt / 6, s, k, next);
        moved(dt / 2, s, k, at);
        changes(current, coupling, at, k);
        moved(dt / 3, next, k, next);
        moved(dt / 2, s, k, at);
        changes(current, coupling, at, k);
        moved(dt / 3, next, k, next);
        moved(dt, s, k, at);
        changes(current, coupling, at, k);
        moved(dt / 6, next, k, s);
      }
      for (int l = 0; l < size; l++) {
        for (int i = 0; i < CELLS; i++) out[i][from + l] = s[i][V][l];
        out[3][from + l] = s[CELLS - 1][CA][l];
      }
    }
  }
  for (int i = 0; i < 4; i++) write_value(" f32", 4, (value){1, {n}, out[i]});
}
