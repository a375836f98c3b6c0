// Reference for examples/life.fut, entry soup.
#include "bench.h"

int main(int argc, char **argv) {
  int64_t h = read_i64(), w = read_i64();
  int32_t generations = read_i32();
  uint8_t *world = malloc((size_t)(h * w)), *next = malloc((size_t)(h * w));
  int64_t alive = 0;
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    for (int64_t y = 0; y < h; y++)
      for (int64_t x = 0; x < w; x++) {
        uint32_t a = (uint32_t)(y * 7919 + x * 104729 + 1) * 2654435761u;
        uint32_t b = (a ^ (a >> 15)) * 2246822519u;
        world[y * w + x] = (b >> 13) & 1;
      }
    for (int32_t g = 0; g < generations; g++) {
#pragma omp parallel for
      for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
          int64_t up = y == 0 ? h - 1 : y - 1, down = y == h - 1 ? 0 : y + 1;
          int64_t left = x == 0 ? w - 1 : x - 1, right = x == w - 1 ? 0 : x + 1;
          int around = world[up * w + left] + world[up * w + x] + world[up * w + right] + world[y * w + left] +
                       world[y * w + right] + world[down * w + left] + world[down * w + x] + world[down * w + right];
          next[y * w + x] = around == 3 || (around == 2 && world[y * w + x] == 1);
        }
      uint8_t *old = world;
      world = next;
      next = old;
    }
    alive = 0;
    for (int64_t i = 0; i < h * w; i++) alive += world[i];
  }
  write_value(" i64", 8, (value){0, {0}, &alive});
}
