// What this machine does at most: PROGRAM RUNS prints, a line for each run, the microseconds that it takes to copy 10^8 floats, to
// add as many to a multiple of others (triad), and to do 2^34 operations of fused multiplication and addition.
#include "bench.h"
#define N 100000000
#define STEPS (1 << 20)
#define POINTS (1 << 13)
#define LANES 128

static void copy(const float *restrict x, float *restrict out) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < N; i++) out[i] = x[i];
}

static void triad(const float *restrict x, const float *restrict y, float *restrict out) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < N; i++) out[i] = x[i] + 3 * y[i];
}

static float products(void) {
  float all = 0;
#pragma omp parallel for reduction(+ : all) schedule(static)
  for (int p = 0; p < POINTS; p++) {
    float a[LANES];
    for (int l = 0; l < LANES; l++) a[l] = (float)(p + l);
    for (int s = 0; s < STEPS / POINTS * 64; s++) {
#pragma GCC unroll 16
      for (int l = 0; l < LANES; l++) a[l] = fmaf(a[l], 0.999f, 0.5f);
    }
    for (int l = 0; l < LANES; l++) all += a[l];
  }
  return all;
}

int main(int argc, char **argv) {
  int runs = argc > 1 ? atoi(argv[1]) : 1;
  float *x = malloc(N * 4l), *y = malloc(N * 4l), *z = malloc(N * 4l), all = 0;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < N; i++) x[i] = y[i] = z[i] = (float)i;
  for (int r = 0; r < runs; r++) {
    int64_t start = now_us();
    copy(x, z);
    int64_t copied = now_us();
    triad(x, y, z);
    int64_t added = now_us();
    all += products() + z[r];
    int64_t done = now_us();
    printf("%lld %lld %lld\n", (long long)(copied - start), (long long)(added - copied), (long long)(done - added));
  }
  // So that nothing is left out.
  if (all == 0.5f) puts("");
}
