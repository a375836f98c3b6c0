// Reference for bench/programs/optionpricing.fut: blocks of paths side by side in lanes. The few numbers in the tails of the
// normal distribution, which need logarithms, are done after all others.
#include "bench.h"
#define BLOCK 64
#define UNDER 3
#define MAX_DATES 64

static inline double tail(double q) {
  return (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838) * q - 2.549732539343734) * q + 4.374664141464968) * q + 2.938163982698783) /
         ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996) * q + 3.754408661907416) * q + 1);
}

static inline double middle(double q) {
  double r = q * q;
  return (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r + 1.383577518672690e+02) * r - 3.066479806614716e+01) * r + 2.506628277459239) * q /
         (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r + 6.680131188771972e+01) * r - 1.328068155288572e+01) * r + 1);
}

static uint32_t sobol(uint32_t i, int64_t bits, const uint32_t *v) {
  uint32_t gray = i ^ (i >> 1), x = 0;
  for (int64_t b = 0; b < bits; b++)
    if ((gray >> b) & 1) x ^= v[b];
  return x;
}

// Numbers of one dimension for a block of paths, whose lowest bits go from 0 to BLOCK - 1.
static inline void normals(uint32_t high, const uint32_t *restrict low, double *restrict z) {
#pragma omp simd
  for (int l = 0; l < BLOCK; l++) z[l] = middle((double)(int32_t)(high ^ low[l]) / 1073741824 - 0.5);
  for (int l = 0; l < BLOCK; l++) {
    double p = (double)(int32_t)(high ^ low[l]) / 1073741824;
    if (p < 0.02425) z[l] = tail(sqrt(-2 * log(p)));
    else if (p > 1 - 0.02425) z[l] = -tail(sqrt(-2 * log(1 - p)));
  }
}

// Over z, which is read and written in lanes.
static inline void bridge(int64_t n, double (*restrict z)[BLOCK], double (*restrict path)[BLOCK]) {
  double last = sqrt((double)n);
#pragma omp simd
  for (int l = 0; l < BLOCK; l++) path[n - 1][l] = last * z[0][l];
  int64_t used = 1;
  for (int64_t width = n; width > 1; width /= 2) {
    double deviation = 0.5 * sqrt((double)width);
    for (int64_t k = 0; k < n / width; k++) {
      double *restrict out = path[k * width + width / 2 - 1], *right = path[(k + 1) * width - 1], *step = z[used + k];
      if (k == 0) {
#pragma omp simd
        for (int l = 0; l < BLOCK; l++) out[l] = 0.5 * right[l] + deviation * step[l];
      } else {
        double *left = path[k * width - 1];
#pragma omp simd
        for (int l = 0; l < BLOCK; l++) out[l] = 0.5 * (left[l] + right[l]) + deviation * step[l];
      }
    }
    used += n / width;
  }
}

int main(int argc, char **argv) {
  int64_t paths = read_i64(), dates = read_i64();
  value vectors = read_value(" u32", 4);
  int64_t dims = vectors.dims[0], bits = vectors.dims[1];
  const uint32_t *v = vectors.data;
  if (dates > MAX_DATES || dims / dates > UNDER) fail("too many dimensions");
  int64_t under = dims / dates;
  double rate = 0.03, correlation = 0.4, rest = sqrt(1 - correlation * correlation), dt = 1.0 / (double)dates, price = 0;
  uint32_t(*low)[BLOCK] = malloc((size_t)dims * sizeof *low);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    for (int64_t d = 0; d < dims; d++)
      for (uint32_t l = 0; l < BLOCK; l++) low[d][l] = sobol(l, bits, v + d * bits);
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(static)
    for (int64_t from = 0; from <= paths; from += BLOCK) {
      double z[MAX_DATES][BLOCK], path[UNDER][MAX_DATES][BLOCK], worst[BLOCK];
      for (int l = 0; l < BLOCK; l++) worst[l] = INFINITY;
      for (int64_t u = 0; u < under; u++) {
        for (int64_t d = 0; d < dates; d++) normals(sobol((uint32_t)from, bits, v + (u * dates + d) * bits), low[u * dates + d], z[d]);
        bridge(dates, z, path[u]);
        double volatility = 0.2 + 0.05 * (double)u, drift = (rate - 0.5 * volatility * volatility) * dt, scale = volatility * sqrt(dt);
        double log[BLOCK] = {0}, mean[BLOCK] = {0};
        for (int64_t d = 0; d < dates; d++) {
          double *own = path[u][d], *first = path[0][d];
          if (u == 0) {
#pragma omp simd
            for (int l = 0; l < BLOCK; l++) log[l] = drift * (double)(d + 1) + scale * own[l];
          } else {
#pragma omp simd
            for (int l = 0; l < BLOCK; l++) log[l] = drift * (double)(d + 1) + scale * (correlation * first[l] + rest * own[l]);
          }
#pragma omp simd
          for (int l = 0; l < BLOCK; l++) mean[l] += exp(log[l]);
        }
#pragma omp simd
        for (int l = 0; l < BLOCK; l++) worst[l] = mean[l] / (double)dates < worst[l] ? mean[l] / (double)dates : worst[l];
      }
      // Path 0 is left out, as all its numbers are 0.
      int begin = from == 0, end = paths - from + 1 < BLOCK ? (int)(paths - from + 1) : BLOCK;
      for (int l = begin; l < end; l++) sum += worst[l] > 0.9 ? worst[l] - 0.9 : 0;
    }
    price = exp(-rate) * sum / (double)paths;
  }
  write_value(" f64", 8, (value){0, {0}, &price});
}
