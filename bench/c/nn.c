// Reference for bench/programs/nn.fut: the least of each block in lanes, and its place by a second look at the block of the least.
#include "bench.h"
#define BLOCK 4096
#define LANES 64

static inline float least(const float *restrict d, int64_t n) {
  float lanes[LANES], all = INFINITY;
  for (int l = 0; l < LANES; l++) lanes[l] = INFINITY;
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES)
#pragma omp simd
    for (int l = 0; l < LANES; l++) lanes[l] = d[i + l] < lanes[l] ? d[i + l] : lanes[l];
  for (; i < n; i++) all = d[i] < all ? d[i] : all;
  for (int l = 0; l < LANES; l++) all = lanes[l] < all ? lanes[l] : all;
  return all;
}

int main(int argc, char **argv) {
  int64_t k = read_i64();
  float x = *(float *)read_value(" f32", 4).data, y = *(float *)read_value(" f32", 4).data;
  value vx = read_value(" f32", 4), vy = read_value(" f32", 4);
  int64_t n = vx.dims[0], blocks = (n + BLOCK - 1) / BLOCK;
  const float *restrict xs = vx.data, *restrict ys = vy.data;
  float *distances = malloc((size_t)n * 4), *found = malloc((size_t)k * 4);
  int64_t *places = malloc((size_t)k * 8);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++)
      distances[i] = sqrtf((xs[i] - x) * (xs[i] - x) + (ys[i] - y) * (ys[i] - y));
    for (int64_t i = 0; i < k; i++) {
      float best = INFINITY;
      int64_t block = blocks, place = n;
#pragma omp parallel
      {
        float my_best = INFINITY;
        int64_t my_block = blocks;
#pragma omp for schedule(static) nowait
        for (int64_t b = 0; b < blocks; b++) {
          float here = least(distances + b * BLOCK, n - b * BLOCK < BLOCK ? n - b * BLOCK : BLOCK);
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
      distances[place] = INFINITY;
    }
  }
  write_value(" i64", 8, (value){1, {k}, places});
  write_value(" f32", 4, (value){1, {k}, found});
}
