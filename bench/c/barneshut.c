// Reference for bench/programs/barneshut.fut: a tree of squares, which every body walks through.
#include "bench.h"

typedef struct {
  double x, y, mass, size;
  int count, child[4];
} node;

static node *nodes;
static int used;
static const double *xs, *ys, *masses;

// The tree of the bodies `ids`, which are put in order of the quarters that they are in; -1 of none.
static int build(int depth, double x, double y, double size, int64_t *ids, int64_t n) {
  if (n == 0) return -1;
  int me = used++;
  node *s = &nodes[me];
  s->size = size, s->count = n == 1 || depth == 0 ? 1 : 2;
  s->x = s->y = s->mass = 0;
  for (int64_t i = 0; i < n; i++) {
    s->mass += masses[ids[i]];
    s->x += xs[ids[i]] * masses[ids[i]];
    s->y += ys[ids[i]] * masses[ids[i]];
  }
  s->x /= s->mass, s->y /= s->mass;
  if (s->count == 1) return me;
  double half = size / 2;
  int64_t *part = malloc((size_t)n * 8), at[5] = {0}, fill[4];
  for (int64_t i = 0; i < n; i++) at[(xs[ids[i]] >= x + half) + 2 * (ys[ids[i]] >= y + half) + 1]++;
  for (int q = 0; q < 4; q++) fill[q] = at[q], at[q + 1] += at[q];
  for (int64_t i = 0; i < n; i++) part[fill[(xs[ids[i]] >= x + half) + 2 * (ys[ids[i]] >= y + half)]++] = ids[i];
  for (int q = 0; q < 4; q++) {
    int child = build(depth - 1, x + half * (q % 2), y + half * (q / 2), half, part + at[q], at[q + 1] - at[q]);
    nodes[me].child[q] = child;
  }
  free(part);
  return me;
}

static void pull(int at, double x, double y, double *fx, double *fy) {
  const node *s = &nodes[at];
  double dx = s->x - x, dy = s->y - y, d = dx * dx + dy * dy;
  if (s->count == 1 || d > 4 * s->size * s->size) {
    d += 1e-4;
    double f = s->mass / (d * sqrt(d));
    *fx += dx * f, *fy += dy * f;
    return;
  }
  for (int q = 0; q < 4; q++)
    if (s->child[q] >= 0) pull(s->child[q], x, y, fx, fy);
}

int main(int argc, char **argv) {
  value vx = read_value(" f64", 8), vy = read_value(" f64", 8), vm = read_value(" f64", 8);
  int64_t n = vx.dims[0], *ids = malloc((size_t)n * 8 + 8);
  double *fx = malloc((size_t)n * 8 + 8), *fy = malloc((size_t)n * 8 + 8);
  xs = vx.data, ys = vy.data, masses = vm.data;
  nodes = malloc(sizeof(node) * (size_t)(21 * n + 1));
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    used = 0;
    for (int64_t i = 0; i < n; i++) ids[i] = i;
    int root = build(20, 0, 0, 1, ids, n);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < n; i++) {
      fx[i] = fy[i] = 0;
      pull(root, xs[i], ys[i], &fx[i], &fy[i]);
    }
  }
  write_value(" f64", 8, (value){1, {n}, fx});
  write_value(" f64", 8, (value){1, {n}, fy});
}
