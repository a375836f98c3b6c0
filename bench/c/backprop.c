// Reference for bench/programs/backprop.fut: rows of weights in lanes, changed where they are.
#include "bench.h"
#define UNITS 16

static inline float sigmoid(float x) { return 1 / (1 + expf(-x)); }

// Sums of the columns from `j` on, of which there are `width`, times inputs.
static inline void columns(int64_t n, int64_t m, int64_t j, int64_t width, const float *restrict x,
                           const float *restrict weights, float *restrict out) {
  float sums[UNITS] = {0};
#pragma omp parallel for schedule(static) reduction(+ : sums)
  for (int64_t i = 0; i < n; i++)
#pragma omp simd
    for (int64_t u = 0; u < width; u++) sums[u] += x[i] * weights[i * m + j + u];
  memcpy(out + j, sums, (size_t)width * 4);
}

static inline void adjust(int64_t n, int64_t m, const float *restrict deltas, const float *restrict x,
                          float *restrict weights, float *restrict changes) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; i++)
#pragma omp simd
    for (int64_t j = 0; j < m; j++) {
      float change = 0.3f * deltas[j] * x[i] + 0.3f * changes[i * m + j];
      changes[i * m + j] = change;
      weights[i * m + j] += change;
    }
}

int main(int argc, char **argv) {
  float target = *(float *)read_value(" f32", 4).data, error = 0;
  value input = read_value(" f32", 4), w = read_value(" f32", 4), old = read_value(" f32", 4);
  value b = read_value(" f32", 4), o = read_value(" f32", 4);
  int64_t n = w.dims[0], m = w.dims[1];
  const float *restrict bias = b.data, *restrict second = o.data;
  float *weights = malloc(count(w) * 4), *changes = malloc(count(w) * 4);
  float *hidden = malloc((size_t)m * 4), *deltas = malloc((size_t)m * 4), *out = malloc((size_t)m * 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    memcpy(weights, w.data, count(w) * 4);
    memcpy(changes, old.data, count(w) * 4);
    timer_restart(&t);
    int64_t j = 0;
    for (; j + UNITS <= m; j += UNITS) columns(n, m, j, UNITS, input.data, weights, hidden);
    if (j < m) columns(n, m, j, m - j, input.data, weights, hidden);
    float sum = 0;
    for (j = 0; j < m; j++) hidden[j] = sigmoid(bias[j] + hidden[j]);
    for (j = 0; j < m; j++) sum += hidden[j] * second[j];
    float result = sigmoid(sum), delta = result * (1 - result) * (target - result);
    for (j = 0; j < m; j++) {
      deltas[j] = hidden[j] * (1 - hidden[j]) * delta * second[j];
      out[j] = second[j] + 0.3f * delta * hidden[j];
    }
    if (m == UNITS)
      adjust(n, UNITS, deltas, input.data, weights, changes);
    else
      adjust(n, m, deltas, input.data, weights, changes);
    error = fabsf(target - result);
  }
  write_value(" f32", 4, (value){2, {n, m}, weights});
  write_value(" f32", 4, (value){2, {n, m}, changes});
  write_value(" f32", 4, (value){1, {m}, out});
  write_value(" f32", 4, (value){0, {0}, &error});
}
