// Reference for bench/programs/nn.fut: the least of each block in lanes, and its place by a second look at the block of the least.
#include "bench.h"
#define BLOCK 4096

static inline int32_t bits(float x) {
  int32_t i;
  memcpy(&i, &x, sizeof i);
  return i;
}

// Distances are compared by their bits, whose order is the same as they are not negative: of integers gcc finds the least in lanes without -ffast-math, too.
static inline int32_t least(const int32_t *restrict d, int64_t n) {
  int32_t all = INT32_MAX;
#pragma omp simd reduction(min : all)
  for (int64_t i = 0; i < n; i++) all = d[i] < all ? d[i] : all;
  return all;
}

int main(int argc, char **argv) {
  int64_t k = read_i64();
  float x = *(float *)read_value(" f32", 4).data, y = *(float *)read_value(" f32", 4).data;
  value vx = read_value(" f32", 4), vy = read_value(" f32", 4);
  int64_t n = vx.dims[0], blocks = (n + BLOCK - 1) / BLOCK;
  const float *restrict xs = vx.data, *restrict ys = vy.data;
  int32_t *distances = malloc((size_t)n * 4), *found = malloc((size_t)k * 4), infinity = bits(INFINITY);
  int64_t *places = malloc((size_t)k * 8);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
      distances[i] = bits(sqrtf((xs[i] - x) * (xs[i] - x) + (ys[i] - y) * (ys[i] - y)));
    for (int64_t i = 0; i < k; i++) {
      int32_t best = infinity;
      int64_t block = blocks, place = n;
#pragma omp parallel
      {
        int32_t my_best = infinity;
        int64_t my_block = blocks;
#pragma omp for schedule(static) nowait
        for (int64_t b = 0; b < blocks; b++) {
          int32_t here = least(distances + b * BLOCK, n - b * BLOCK < BLOCK ? n - b * BLOCK : BLOCK);
          if (here < my_best) my_best = here, my_block = b;
        }
#pragma omp critical
        if (my_best < best || (my_best == best && my_block < block)) best = my_best, block = my_block;
      }
      for (int64_t j = block * BLOCK; j < n; j++)
        if (distances[j] == best) {
          place = j;
          break;
        }
      places[i] = place;
      found[i] = best;
      distances[place] = infinity;
    }
  }
  write_value(" i64", 8, (value){1, {k}, places});
  write_value(" f32", 4, (value){1, {k}, found});
}
