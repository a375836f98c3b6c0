// Reference for bench/programs/prefix.fut: the parts' sums, then each part from what stands before it.
#include "parts.h"

static void work(int64_t n, const uint32_t *restrict x, uint32_t *restrict out, uint32_t *before) {
  int parts = omp_get_max_threads();
#pragma omp parallel for schedule(static)
  for (int k = 0; k < parts - 1; k++) {
    uint32_t sum = 0;
    int64_t end = part_start(n, k + 1);
#pragma omp simd reduction(+ : sum)
    for (int64_t i = part_start(n, k); i < end; i++) sum += x[i];
    before[k + 1] = sum;
  }
  for (int k = 1; k < parts; k++) before[k] += before[k - 1];
#pragma omp parallel for schedule(static)
  for (int k = 0; k < parts; k++) {
    uint32_t sum = before[k];
    int64_t end = part_start(n, k + 1);
    for (int64_t i = part_start(n, k); i < end; i++) out[i] = sum += x[i];
  }
}

int main(int argc, char **argv) {
  value x = read_value(" i32", 4);
  uint32_t *out = malloc((size_t)x.dims[0] * 4);
  uint32_t *before = calloc((size_t)omp_get_max_threads(), 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) work(x.dims[0], x.data, out, before);
  write_value(" i32", 4, (value){1, {x.dims[0]}, out});
}
