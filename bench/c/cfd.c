// Reference for bench/programs/cfd.fut: what is read of a neighbour is side by side, in half a line of the cache.
#include "bench.h"

typedef struct { float density, x, y, z, energy, pressure, fastest, inverse; } cell;
typedef struct { float density, x, y, z, energy; } state;
static const float gas = 1.4f;

static inline cell cell_of(state s) {
  float squares = s.x * s.x + s.y * s.y + s.z * s.z, inverse = 1 / s.density;
  float pressure = (gas - 1) * (s.energy - 0.5f * squares * inverse);
  return (cell){s.density, s.x, s.y, s.z, s.energy, pressure, sqrtf(squares) * inverse + sqrtf(gas * pressure * inverse), inverse};
}

// Adds what goes from a cell to the one beside it.
static inline void outflow(state *sum, const cell *here, const cell *there, float fx, float fy, float fz) {
  float viscosity = 0.25f * sqrtf(fx * fx + fy * fy + fz * fz) * (here->fastest + there->fastest);
  float a = 0.5f * (here->x * fx + here->y * fy + here->z * fz) * here->inverse;
  float b = 0.5f * (there->x * fx + there->y * fy + there->z * fz) * there->inverse;
  float pressure = 0.5f * (here->pressure + there->pressure);
  sum->density += here->density * a + there->density * b + viscosity * (here->density - there->density);
  sum->x += here->x * a + there->x * b + pressure * fx + viscosity * (here->x - there->x);
  sum->y += here->y * a + there->y * b + pressure * fy + viscosity * (here->y - there->y);
  sum->z += here->z * a + there->z * b + pressure * fz + viscosity * (here->z - there->z);
  sum->energy += (here->energy + here->pressure) * a + (there->energy + there->pressure) * b + viscosity * (here->energy - there->energy);
}

int main(int argc, char **argv) {
  int32_t steps = read_i32();
  value links = read_value(" i32", 4), normals = read_value(" f32", 4);
  int64_t n = links.dims[0];
  const int32_t(*neighbours)[4] = links.data;
  const float(*faces)[4][3] = normals.data;
  state *old = malloc((size_t)n * sizeof *old), *now = malloc((size_t)n * sizeof *now);
  cell *cells = malloc((size_t)n * sizeof *cells);
  float *times = malloc((size_t)n * 4);
  const state stream = {gas, gas * 1.2f, 0, 0, 1 / (gas - 1) + 0.5f * gas * 1.44f};
  const cell outside = cell_of(stream);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
      now[i] = stream;
      now[i].density += 0.1f * sinf((float)i);
      now[i].energy += 0.2f * cosf((float)i);
    }
    for (int32_t s = 0; s < steps; s++) {
      state *other = old;
      old = now;
      now = other;
      for (int k = 3; k > 0; k--) {
        const state *from = k == 3 ? old : now;
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++) {
          cells[i] = cell_of(from[i]);
          if (k == 3) times[i] = 0.15f * 6 / cells[i].fastest;
        }
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++) {
          state sum = {0};
          cell here = cells[i];
          for (int f = 0; f < 4; f++) {
            int32_t to = neighbours[i][f];
            float fx = faces[i][f][0], fy = faces[i][f][1], fz = faces[i][f][2];
            if (to == -1) {
              sum.x += here.pressure * fx;
              sum.y += here.pressure * fy;
              sum.z += here.pressure * fz;
            } else {
              outflow(&sum, &here, to >= 0 ? &cells[to] : &outside, fx, fy, fz);
            }
          }
          float time = times[i] / (float)k;
          now[i] = (state){old[i].density - time * sum.density, old[i].x - time * sum.x, old[i].y - time * sum.y, old[i].z - time * sum.z, old[i].energy - time * sum.energy};
        }
      }
    }
  }
  float *density = malloc((size_t)n * 4), *momentum = malloc((size_t)n * 12), *energy = malloc((size_t)n * 4);
  for (int64_t i = 0; i < n; i++) {
    density[i] = now[i].density;
    momentum[i * 3] = now[i].x;
    momentum[i * 3 + 1] = now[i].y;
    momentum[i * 3 + 2] = now[i].z;
    energy[i] = now[i].energy;
  }
  write_value(" f32", 4, (value){1, {n}, density});
  write_value(" f32", 4, (value){2, {n, 3}, momentum});
  write_value(" f32", 4, (value){1, {n}, energy});
}
