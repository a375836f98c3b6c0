// Reference for bench/programs/avoidance.fut; the option -e says which entry point.
#include "bench.h"
#define LANES 32

static double pythagoras(int64_t n) {
  double sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
  for (int64_t i = 0; i < n; i++) {
    double x = (double)i, y = (double)(i + 1);
    sum += sqrt(x * x + y * y + 2 * x * y);
  }
  return sum;
}

static double distance(int64_t n) {
  double sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
  for (int64_t i = 0; i < n; i++) {
    double x = (double)i, y = (double)(i + 1);
    double ax = 0.5 * x, ay = 0.25 * x;
    sum += (0.75 * y - ax) * (y - ay) - (2 * y - ay) * (x - ax);
  }
  return sum;
}

static int64_t simple_cond(int64_t n, const int64_t *restrict xs) {
  int64_t sum = 0;
#pragma omp parallel for simd reduction(+ : sum) schedule(static)
  for (int64_t i = 0; i < n; i++) sum += (xs[i] & 1) == 0 ? 3 * xs[i] : 2 * xs[i];
  return sum;
}

static void sin_cond(int64_t n, double *restrict out) {
  int64_t half = (n + 1) / 2;
#pragma omp parallel
  {
#pragma omp for simd schedule(static) nowait
    for (int64_t i = 0; i < half; i++) out[i] = (double)i;
#pragma omp for simd schedule(static)
    for (int64_t i = half; i < n; i++) out[i] = sin(sin(sin((double)i)));
  }
}

// As many numbers side by side as are in flight, until none has a five left.
static void simple_rec(int64_t n, const double *restrict xs, double *restrict out) {
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t i = 0; i < n; i += LANES) {
    double x[LANES] = {0};
    int64_t size = n - i < LANES ? n - i : LANES;
    for (int64_t l = 0; l < size; l++) x[l] = xs[i + l];
    for (bool more = true; more;) {
      double most = 0;
#pragma omp simd reduction(max : most)
      for (int l = 0; l < LANES; l++) {
        for (int k = 0; k < 4; k++) x[l] = x[l] >= 5 ? x[l] - 5 : x[l];
        most = x[l] > most ? x[l] : most;
      }
      more = most >= 5;
    }
    for (int64_t l = 0; l < size; l++) out[i + l] = x[l];
  }
}

int main(int argc, char **argv) {
  const char *entry = "";
  for (int i = 1; i + 1 < argc; i += 2)
    if (strcmp(argv[i], "-e") == 0) entry = argv[i + 1];
  if (strcmp(entry, "simple_rec") == 0) {
    value xs = read_value(" f64", 8);
    double *out = malloc(count(xs) * 8 + 8);
    for (timer t = timer_start(argc, argv); timer_next(&t);) simple_rec(xs.dims[0], xs.data, out);
    write_value(" f64", 8, (value){1, {xs.dims[0]}, out});
  } else if (strcmp(entry, "simple_cond") == 0) {
    value xs = read_value(" i64", 8);
    int64_t sum = 0;
    for (timer t = timer_start(argc, argv); timer_next(&t);) sum = simple_cond(xs.dims[0], xs.data);
    write_value(" i64", 8, (value){0, {0}, &sum});
  } else if (strcmp(entry, "sin_cond") == 0) {
    int64_t n = read_i64();
    double *out = malloc((size_t)n * 8 + 8);
    for (timer t = timer_start(argc, argv); timer_next(&t);) sin_cond(n, out);
    write_value(" f64", 8, (value){1, {n}, out});
  } else {
    int64_t n = read_i64();
    double sum = 0;
    bool is_distance = strcmp(entry, "distance") == 0;
    for (timer t = timer_start(argc, argv); timer_next(&t);) sum = is_distance ? distance(n) : pythagoras(n);
    write_value(" f64", 8, (value){0, {0}, &sum});
  }
}
