// Reference for bench/programs/tpacf.fut: intervals of a block of pairs in lanes, then counts of each thread's own.
#include "bench.h"
#define BOUNDS 20
#define BLOCK 64

typedef struct {
  double *x, *y, *z;
} set;

static double bounds[BOUNDS];

static set places(int64_t n, const double *restrict ascensions, const double *restrict heights) {
  set s = {malloc((size_t)n * 8 + 8), malloc((size_t)n * 8 + 8), malloc((size_t)n * 8 + 8)};
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
    double z = 2 * heights[i] - 1, r = sqrt(1 - z * z), angle = 2 * M_PI * ascensions[i];
    s.x[i] = r * cos(angle);
    s.y[i] = r * sin(angle);
    s.z[i] = z;
  }
  return s;
}

// Counts the pairs of a place and those from `from` on.
static inline void pairs(double x, double y, double z, set s, int64_t from, int64_t to, int32_t *restrict counts) {
  for (int64_t i = from; i < to; i += BLOCK) {
    int size = to - i < BLOCK ? (int)(to - i) : BLOCK;
    double cosine[BLOCK];
    int64_t interval[BLOCK] = {0};
    const double *restrict a = s.x + i, *restrict b = s.y + i, *restrict c = s.z + i;
#pragma omp simd
    for (int j = 0; j < size; j++) cosine[j] = x * a[j] + y * b[j] + z * c[j];
#pragma omp simd
    for (int j = 0; j < BLOCK; j++) {
      int64_t n = 0;
#pragma GCC unroll 20
      for (int k = 0; k < BOUNDS; k++) n += cosine[j] < bounds[k];
      interval[j] = n;
    }
    for (int j = 0; j < size; j++) counts[interval[j]]++;
  }
}

int main(int argc, char **argv) {
  value ascensions = read_value(" f64", 8), heights = read_value(" f64", 8);
  value random_ascensions = read_value(" f64", 8), random_heights = read_value(" f64", 8);
  int64_t n = heights.dims[0], m = random_heights.dims[0], k = random_heights.dims[1];
  int32_t observed[BOUNDS + 1], both[BOUNDS + 1], random[BOUNDS + 1];
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    for (int i = 0; i < BOUNDS; i++) bounds[i] = cos(pow(10, (double)(i) / 5) * M_PI / (180 * 60));
    set points = places(n, ascensions.data, heights.data);
    set sets = places(m * k, random_ascensions.data, random_heights.data);
    memset(observed, 0, sizeof observed);
    memset(both, 0, sizeof both);
    memset(random, 0, sizeof random);
#pragma omp parallel reduction(+ : observed, both, random)
    {
#pragma omp for schedule(dynamic, 16) nowait
      for (int64_t i = 0; i < n; i++) pairs(points.x[i], points.y[i], points.z[i], points, i + 1, n, observed);
#pragma omp for schedule(dynamic, 16) nowait
      for (int64_t i = 0; i < m * k; i++) {
        int64_t from = i / k * k;
        set s = {sets.x + from, sets.y + from, sets.z + from};
        double x = sets.x[i], y = sets.y[i], z = sets.z[i];
        pairs(x, y, z, s, i - from + 1, k, random);
      }
#pragma omp for collapse(2) schedule(dynamic, 16) nowait
      for (int64_t r = 0; r < m; r++)
        for (int64_t i = 0; i < n; i++) {
          set s = {sets.x + r * k, sets.y + r * k, sets.z + r * k};
          pairs(points.x[i], points.y[i], points.z[i], s, 0, k, both);
        }
    }
    set all[] = {points, sets};
    for (int i = 0; i < 2; i++) free(all[i].x), free(all[i].y), free(all[i].z);
  }
  write_value(" i32", 4, (value){1, {BOUNDS + 1}, observed});
  write_value(" i32", 4, (value){1, {BOUNDS + 1}, both});
  write_value(" i32", 4, (value){1, {BOUNDS + 1}, random});
}
