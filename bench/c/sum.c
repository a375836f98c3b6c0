// Reference for bench/programs/sum.fut.
#include "bench.h"

int main(int argc, char **argv) {
  value v = read_value(" i32", 4);
  int64_t n = v.dims[0];
  const uint32_t *restrict x = v.data;
  uint32_t sum = 0;
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i];
  }
  write_value(" i32", 4, (value){0, {0}, &sum});
}
