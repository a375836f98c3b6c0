// Reference for bench/programs/quicksort.fut: every row by a recursive quicksort.
#include "bench.h"

static void sort(int32_t *xs, int64_t n) {
  while (n > 1) {
    int32_t p = xs[n / 2];
    int64_t i = 0, j = n - 1;
    while (i <= j) {
      while (xs[i] < p) i++;
      while (xs[j] > p) j--;
      if (i <= j) {
        int32_t x = xs[i];
        xs[i++] = xs[j];
        xs[j--] = x;
      }
    }
    sort(xs, j + 1);
    xs += i;
    n -= i;
  }
}

int main(int argc, char **argv) {
  value ls = read_value(" i64", 8), xs = read_value(" i32", 4);
  int64_t n = ls.dims[0], m = xs.dims[0], *length = ls.data, *start = malloc((size_t)(n + 1) * 8);
  int32_t *out = malloc((size_t)m * 4 + 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    start[0] = 0;
    for (int64_t i = 0; i < n; i++) start[i + 1] = start[i] + length[i];
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < n; i++) {
      memcpy(out + start[i], (int32_t *)xs.data + start[i], (size_t)length[i] * 4);
      sort(out + start[i], length[i]);
    }
  }
  write_value(" i32", 4, (value){1, {m}, out});
}
