// Reference for examples/blackscholes.fut, entry surface.
#include "bench.h"

static inline float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float poly =
      k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float tail = 0.39894228f * expf(-0.5f * d * d) * poly;
  return d > 0 ? 1.0f - tail : tail;
}

static inline float call(float rate, float volatility, float spot, float strike, float years) {
  float deviation = volatility * sqrtf(years);
  float d1 = (logf(spot / strike) + (rate + 0.5f * volatility * volatility) * years) / deviation;
  float d2 = d1 - deviation;
  return spot * normal(d1) - strike * expf(-rate * years) * normal(d2);
}

int main(int argc, char **argv) {
  int32_t n = (int32_t)read_i64(), m = (int32_t)read_i64();
  double mean = 0;
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int32_t i = 0; i < n; i++) {
      float spot = 50.0f + 100.0f * (float)i / (float)n;
#pragma omp simd reduction(+ : sum)
      for (int32_t j = 0; j < m; j++) {
        float years = 0.1f + 3.0f * (float)j / (float)m;
        sum += (double)call(0.03f, 0.25f, spot, 100.0f, years);
      }
    }
    mean = sum / ((double)n * m);
  }
  write_value(" f64", 8, (value){0, {0}, &mean});
}
