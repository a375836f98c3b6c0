// Reference for examples/life.fut, entry soup: the columns at the edges are done by themselves, those between in lanes.
#include "bench.h"

static inline uint8_t lives(uint8_t around, uint8_t here) { return around == 3 || (around == 2 && here == 1); }

static inline uint8_t cell(const uint8_t *up, const uint8_t *here, const uint8_t *down, int64_t left, int64_t x,
                           int64_t right) {
  uint8_t around = up[left] + up[x] + up[right] + here[left] + here[right] + down[left] + down[x] + down[right];
  return lives(around, here[x]);
}

static void row(int64_t w, const uint8_t *up, const uint8_t *here, const uint8_t *down, uint8_t *restrict out) {
  int64_t last = w - 1;
  out[0] = cell(up, here, down, last, 0, w > 1);
#pragma omp simd
  for (int64_t x = 1; x < last; x++) out[x] = cell(up, here, down, x - 1, x, x + 1);
  if (w > 1) out[last] = cell(up, here, down, last - 1, last, 0);
}

static void step(int64_t h, int64_t w, const uint8_t *restrict world, uint8_t *restrict next) {
#pragma omp parallel for schedule(static)
  for (int64_t y = 0; y < h; y++)
    row(w, world + (y == 0 ? h - 1 : y - 1) * w, world + y * w, world + (y == h - 1 ? 0 : y + 1) * w, next + y * w);
}

int main(int argc, char **argv) {
  int64_t h = read_i64(), w = read_i64();
  int32_t generations = read_i32();
  uint8_t *world = malloc((size_t)(h * w)), *next = malloc((size_t)(h * w));
  int64_t alive = 0;
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
#pragma omp parallel for schedule(static)
    for (int64_t y = 0; y < h; y++) {
      uint32_t first = (uint32_t)(y * 7919 + 1);
      uint8_t *restrict to = world + y * w;
#pragma omp simd
      for (int32_t x = 0; x < (int32_t)w; x++) {
        uint32_t a = (first + (uint32_t)x * 104729) * 2654435761u;
        uint32_t b = (a ^ (a >> 15)) * 2246822519u;
        to[x] = (b >> 13) & 1;
      }
    }
    for (int32_t g = 0; g < generations; g++) {
      step(h, w, world, next);
      uint8_t *old = world;
      world = next;
      next = old;
    }
    alive = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : alive)
    for (int64_t i = 0; i < h * w; i++) alive += world[i];
  }
  write_value(" i64", 8, (value){0, {0}, &alive});
}
