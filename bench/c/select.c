// Reference for bench/programs/select.fut: each part counts, then writes behind those before it.
#include "parts.h"

static int64_t work(int64_t n, const float *restrict x, float *restrict out, int64_t *before) {
  int parts = omp_get_max_threads();
#pragma omp parallel for schedule(static)
  for (int k = 0; k < parts; k++) {
    int64_t found = 0, end = part_start(n, k + 1);
#pragma omp simd reduction(+ : found)
    for (int64_t i = part_start(n, k); i < end; i++) found += x[i] > 0.5f;
    before[k + 1] = found;
  }
  for (int k = 0; k < parts; k++) before[k + 1] += before[k];
#pragma omp parallel for schedule(static)
  for (int k = 0; k < parts; k++) {
    int64_t at = before[k], end = part_start(n, k + 1), stop = before[k + 1];
    for (int64_t i = part_start(n, k); i < end && at < stop; i++) {
      // Without a branch: what is not wanted is written over.
      out[at] = x[i];
      at += x[i] > 0.5f;
    }
  }
  return before[parts];
}

int main(int argc, char **argv) {
  value x = read_value(" f32", 4);
  float *out = malloc((size_t)x.dims[0] * 4 + 4);
  int64_t *before = calloc((size_t)omp_get_max_threads() + 1, 8), found = 0;
  for (timer t = timer_start(argc, argv); timer_next(&t);) found = work(x.dims[0], x.data, out, before);
  write_value(" f32", 4, (value){1, {found}, out});
}
