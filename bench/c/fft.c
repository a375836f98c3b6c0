// Reference for bench/programs/fft.fut: recursion of split radix over rows and columns of each block.
#include "bench.h"

#define N 32
typedef struct {
  float re, im;
} complex;

static complex turn[N];

static void transform(int n, int stride, const complex *xs, complex *out) {
  if (n == 1) {
    out[0] = xs[0];
    return;
  }
  if (n == 2) {
    complex a = xs[0], b = xs[stride];
    out[0] = (complex){a.re + b.re, a.im + b.im};
    out[1] = (complex){a.re - b.re, a.im - b.im};
    return;
  }
  int q = n / 4;
  complex us[N / 2], zs[N / 4], ws[N / 4];
  transform(n / 2, 2 * stride, xs, us);
  transform(q, 4 * stride, xs + stride, zs);
  transform(q, 4 * stride, xs + 3 * stride, ws);
  for (int k = 0; k < q; k++) {
    complex t = turn[k * (N / n)], u = turn[3 * k * (N / n) % N];
    complex z = {t.re * zs[k].re - t.im * zs[k].im, t.re * zs[k].im + t.im * zs[k].re};
    complex w = {u.re * ws[k].re - u.im * ws[k].im, u.re * ws[k].im + u.im * ws[k].re};
    complex s = {z.re + w.re, z.im + w.im}, d = {z.re - w.re, z.im - w.im};
    out[k] = (complex){us[k].re + s.re, us[k].im + s.im};
    out[k + q] = (complex){us[k + q].re + d.im, us[k + q].im - d.re};
    out[k + 2 * q] = (complex){us[k].re - s.re, us[k].im - s.im};
    out[k + 3 * q] = (complex){us[k + q].re - d.im, us[k + q].im + d.re};
  }
}

int main(int argc, char **argv) {
  value re = read_value(" f32", 4), im = read_value(" f32", 4);
  int64_t n = re.dims[0];
  float *out[2] = {malloc(count(re) * 4 + 4), malloc(count(re) * 4 + 4)};
  for (int k = 0; k < N; k++) {
    double t = -2 * 3.14159265358979323846 * k / N;
    turn[k] = (complex){(float)cos(t), (float)sin(t)};
  }
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
#pragma omp parallel for
    for (int64_t b = 0; b < n; b++) {
      complex block[N][N], rows[N][N], column[N];
      for (int i = 0; i < N * N; i++)
        block[i / N][i % N] = (complex){((float *)re.data)[b * N * N + i], ((float *)im.data)[b * N * N + i]};
      for (int i = 0; i < N; i++) transform(N, 1, block[i], rows[i]);
      for (int j = 0; j < N; j++) {
        transform(N, N, &rows[0][j], column);
        for (int i = 0; i < N; i++) {
          out[0][b * N * N + i * N + j] = column[i].re;
          out[1][b * N * N + i * N + j] = column[i].im;
        }
      }
    }
  }
  write_value(" f32", 4, (value){3, {n, N, N}, out[0]});
  write_value(" f32", 4, (value){3, {n, N, N}, out[1]});
}
