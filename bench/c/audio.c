// Reference for bench/programs/audio.fut.
#include "bench.h"

int main(int argc, char **argv) {
  value from = read_value(" i64", 8), ls = read_value(" i64", 8), signal = read_value(" f32", 4);
  int64_t k = from.dims[0], *start = from.data, *length = ls.data;
  float *out = malloc((size_t)k * 4 + 4);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t w = 0; w < k; w++) {
      const float *xs = (float *)signal.data + start[w];
      float sum = 0;
      for (int64_t i = 0; i < length[w]; i++) {
        float x = i * 2 < length[w] ? xs[i] : 0;
        sum += x * x;
      }
      out[w] = sum / (float)length[w];
    }
  }
  write_value(" f32", 4, (value){1, {k}, out});
}
