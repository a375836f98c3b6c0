// Reference for bench/programs/locvolcalib.fut: options are shared out among threads, and systems of one direction stand side by side in
// lanes, those along the rows in a transposed grid. The systems of the other direction have the same matrix for all columns and all steps.
#include "bench.h"

typedef struct { float *u, *x, *c, *d, *variance, *below, *above; } room;

// Each element of what the steps have before solving systems, and the part of it that the second direction takes back.
static inline float second_difference(float before, float here, float behind) { return before - 2 * here + behind; }

static void transpose(int64_t n, int64_t m, const float *restrict from, float *restrict to) {
  for (int64_t i = 0; i < n; i += 16)
    for (int64_t j = 0; j < m; j += 16) {
      int64_t end = i + 16 < n ? i + 16 : n, last = j + 16 < m ? j + 16 : m;
      for (int64_t k = j; k < last; k++)
#pragma omp simd
        for (int64_t l = i; l < end; l++) to[k * n + l] = from[l * m + k];
    }
}

// u is rows x columns; all else with columns first is columns x rows, so that systems along the rows are in lanes.
static float option(int64_t rows, int64_t columns, int64_t steps, float strike, float alpha, float beta, float nu, room r) {
  float years = 1, spot = 1, dt = years / (float)steps, wide = 8 * alpha * spot, high = 5 * nu;
  float dx = wide / (float)columns, dy = 2 * high / (float)rows;
  int64_t middle = columns / 2, level = rows / 2;
  float across = 0.5f * nu * nu / (dy * dy), upward = 0.5f * dt * across;
  float *restrict u = r.u, *restrict x = r.x, *restrict c = r.c, *restrict d = r.d, *restrict variance = r.variance;
  for (int64_t j = 0; j < columns; j++) {
    float price = spot + dx * (float)(j - middle), payoff = (price > 0.01f ? price : 0.01f) - strike;
    price = price > 0.01f ? price : 0.01f;
    float logarithm = logf(price);
#pragma omp simd
    for (int64_t i = 0; i < rows; i++) {
      float y = logf(alpha) + dy * (float)(i - level);
      variance[j * rows + i] = j == 0 || j == columns - 1 ? 0 : 0.5f * dt * (0.5f * expf(2 * (beta * logarithm + y)) / (dx * dx));
      u[i * columns + j] = payoff > 0 ? payoff : 0;
    }
  }
  // The elimination along columns.
  for (int64_t i = 0; i < rows; i++) {
    float a = i > 0 && i < rows - 1 ? -upward : 0;
    r.below[i] = 1 / (1 - 2 * a - (i > 0 ? a * r.above[i - 1] : 0));
    r.above[i] = a * r.below[i];
  }
  for (int64_t k = 0; k < steps; k++) {
    float fall = expf(-nu * nu * dt * (float)(steps - k));
    transpose(rows, columns, u, x);
    for (int64_t j = 0; j < columns; j++) {
      const float *restrict here = x + j * rows, *restrict v = variance + j * rows;
      const float *restrict left = j > 0 ? here - rows : here, *restrict right = j < columns - 1 ? here + rows : here;
      float *restrict cs = c + j * rows, *restrict ds = d + j * rows;
      const float *restrict last_c = j > 0 ? cs - rows : cs, *restrict last_d = j > 0 ? ds - rows : ds;
      if (j == 0) memset(cs, 0, (size_t)rows * 4), memset(ds, 0, (size_t)rows * 4);
      float e[rows];
      e[0] = e[rows - 1] = 0;
#pragma omp simd
      for (int64_t i = 1; i < rows - 1; i++) e[i] = upward * second_difference(here[i - 1], here[i], here[i + 1]);
#pragma omp simd
      for (int64_t i = 0; i < rows; i++) {
        float a = fall * v[i], f = here[i] + a * second_difference(left[i], here[i], right[i]) + 2 * e[i];
        float factor = 1 / (1 + 2 * a + a * last_c[i]);
        cs[i] = -a * factor;
        ds[i] = (f + a * last_d[i]) * factor;
      }
    }
    // Backwards; then minus the second direction's part.
    for (int64_t j = columns - 2; j >= 0; j--) {
      float *restrict ds = d + j * rows, *restrict cs = c + j * rows, *restrict next = ds + rows;
#pragma omp simd
      for (int64_t i = 0; i < rows; i++) ds[i] -= cs[i] * next[i];
    }
    transpose(columns, rows, d, x);
    // x and u are rows x columns now; c has what is eliminated.
    for (int64_t i = 0; i < rows; i++) {
      const float *restrict here = u + i * columns, *restrict f = x + i * columns;
      const float *restrict up = i > 0 ? here - columns : here, *restrict down = i < rows - 1 ? here + columns : here;
      float *restrict cs = c + i * columns, *restrict last = i > 0 ? cs - columns : cs;
      float share = i > 0 && i < rows - 1 ? upward : 0, factor = r.below[i];
      if (i == 0) memset(cs, 0, (size_t)columns * 4);
#pragma omp simd
      for (int64_t j = 0; j < columns; j++)
        cs[j] = (f[j] - share * second_difference(up[j], here[j], down[j]) + share * last[j]) * factor;
    }
    memcpy(u + (rows - 1) * columns, c + (rows - 1) * columns, (size_t)columns * 4);
    for (int64_t i = rows - 2; i >= 0; i--) {
      float *restrict out = u + i * columns, *restrict next = out + columns, *restrict cs = c + i * columns;
#pragma omp simd
      for (int64_t j = 0; j < columns; j++) out[j] = cs[j] - r.above[i] * next[j];
    }
  }
  return u[level * columns + middle];
}

int main(int argc, char **argv) {
  int64_t rows = read_i64(), columns = read_i64(), steps = read_i64();
  value strikes = read_value(" f32", 4), alphas = read_value(" f32", 4), betas = read_value(" f32", 4), nus = read_value(" f32", 4);
  int64_t n = strikes.dims[0], all = rows * columns;
  float *out = malloc((size_t)n * 4 + 4);
  const float *strike = strikes.data, *alpha = alphas.data, *beta = betas.data, *nu = nus.data;
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
#pragma omp parallel
    {
      float *space = malloc((size_t)(5 * all + 2 * rows) * 4);
      room r = {space, space + all, space + 2 * all, space + 3 * all, space + 4 * all, space + 5 * all, space + 5 * all + rows};
#pragma omp for schedule(dynamic)
      for (int64_t i = 0; i < n; i++) out[i] = option(rows, columns, steps, strike[i], alpha[i], beta[i], nu[i], r);
      free(space);
    }
  }
  write_value(" f32", 4, (value){1, {n}, out});
}
