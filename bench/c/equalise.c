// Reference for examples/equalise.fut, entry rounds.
#include "bench.h"

static void equalise(int64_t size, const uint8_t *in, uint8_t *out) {
  int64_t counts[256] = {0}, lowest = size, sum = 0;
  uint8_t table[256];
  for (int64_t i = 0; i < size; i++) counts[in[i]]++;
  for (int v = 255; v >= 0; v--)
    if (counts[v] > 0) lowest = counts[v];
  int64_t span = size - lowest;
  for (int v = 0; v < 256; v++) {
    sum += counts[v];
    int64_t above = sum - lowest;
    table[v] = span <= 0 ? (uint8_t)v : (uint8_t)((above * 255 + span / 2) / span);
  }
  for (int64_t i = 0; i < size; i++) out[i] = table[in[i]];
}

int main(int argc, char **argv) {
  int32_t n = read_i32();
  value in = read_value("  u8", 1);
  int64_t size = (int64_t)count(in);
  uint8_t *now = malloc((size_t)size), *changed = malloc((size_t)size);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    memcpy(now, in.data, (size_t)size);
    for (int32_t i = 0; i < n; i++) {
      for (int64_t p = 0; p < size; p++) changed[p] = now[p] ^ (uint8_t)i;
      equalise(size, changed, now);
    }
  }
  in.data = now;
  write_value("  u8", 1, in);
}
