// Reference for examples/equalise.fut, entry rounds: the change of a picture is part of the loops that go through it, and each
// thread counts in four tables in turn, so that like neighbours need not wait for each other.
#include "bench.h"

static void equalise(int64_t size, const uint8_t *restrict in, uint8_t change, uint8_t *restrict out) {
  int64_t counts[256] = {0}, lowest = size, sum = 0;
  uint8_t table[256];
#pragma omp parallel reduction(+ : counts)
  {
    uint32_t own[4][256] = {0};
#pragma omp for schedule(static)
    for (int64_t i = 0; i < size / 4; i++)
      for (int k = 0; k < 4; k++) own[k][in[4 * i + k]]++;
    for (int k = 0; k < 4; k++)
      for (int v = 0; v < 256; v++) counts[(uint8_t)(v ^ change)] += own[k][v];
  }
  for (int64_t i = size / 4 * 4; i < size; i++) counts[in[i] ^ change]++;
  for (int v = 255; v >= 0; v--)
    if (counts[v] > 0) lowest = counts[v];
  int64_t span = size - lowest;
  for (int v = 0; v < 256; v++) {
    sum += counts[v];
    int64_t above = sum - lowest;
    table[(uint8_t)(v ^ change)] = span <= 0 ? (uint8_t)v : (uint8_t)((above * 255 + span / 2) / span);
  }
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < size / 4; i++)
    for (int k = 0; k < 4; k++) out[4 * i + k] = table[in[4 * i + k]];
  for (int64_t i = size / 4 * 4; i < size; i++) out[i] = table[in[i]];
}

int main(int argc, char **argv) {
  int32_t n = read_i32();
  value in = read_value("  u8", 1);
  int64_t size = (int64_t)count(in);
  uint8_t *now = malloc((size_t)size), *next = malloc((size_t)size);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    if (n == 0) memcpy(now, in.data, (size_t)size);
    for (int32_t i = 0; i < n; i++) {
      equalise(size, i == 0 ? in.data : now, (uint8_t)i, next);
      uint8_t *old = now;
      now = next;
      next = old;
    }
  }
  in.data = now;
  write_value("  u8", 1, in);
}
