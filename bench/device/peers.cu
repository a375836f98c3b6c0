// What the programs beside this file do, by CUB, cuBLAS, cuSPARSE and plain CUDA C++: a line "name microseconds" for each, the median
// of several runs, timed by events.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cub/cub.cuh>
#include <cublas_v2.h>
#include <cusparse.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#define CHECK(call)                                                        \
  do {                                                                     \
    int code = (int)(call);                                                \
    if (code != 0) {                                                       \
      fprintf(stderr, "%s:%d: error %d\n", __FILE__, __LINE__, code);      \
      exit(1);                                                             \
    }                                                                      \
  } while (0)

template <typename F> void report(const char *name, F f) {
  std::vector<float> times;
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  for (int i = 0; i < 12; i++) {
    CHECK(cudaEventRecord(start));
    f();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, start, end));
    if (i >= 3) times.push_back(ms * 1000);
  }
  CHECK(cudaGetLastError());
  std::sort(times.begin(), times.end());
  printf("%s %.1f\n", name, times[times.size() / 2]);
}

// Asks CUB how much temporary memory it wants, then measures.
template <typename F> void with_memory(const char *name, F f) {
  size_t bytes = 0;
  CHECK(f(nullptr, bytes));
  void *memory;
  CHECK(cudaMalloc(&memory, bytes));
  report(name, [&] { CHECK(f(memory, bytes)); });
  CHECK(cudaFree(memory));
}

__global__ void fill(float *xs, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) xs[i] = (float)(i * 7919 % 1000) + 0.5f;
}

// The same options as those of blackscholes.fut.
__global__ void options(float *spots, float *strikes, float *years, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  spots[i] = 50.0f + 100.0f * (float)i / (float)n;
  strikes[i] = 100.0f + (float)(i % 7);
  years[i] = 0.1f + (float)(i % 1000) / 300.0f;
}

struct Above {
  float bound;
  __host__ __device__ bool operator()(float x) const { return x > bound; }
};

__global__ void halve(const float *in, float *out, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * in[i] + 1.0f;
}

// The same numbers as those of sort.fut.
__global__ void scatter_bits(unsigned *xs, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) xs[i] = (unsigned)i * 2654435761u;
}

// The same matrix as that of sparse.fut: where its entries stand, and what they are.
__global__ void entries_of(int *columns, float *values, long entries, long m) {
  long e = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (e >= entries) return;
  columns[e] = e % 2 == 0 ? (e / 31 + e % 64) % m : e * 7919 % m;
  values[e] = (float)(e % 4);
}

__global__ void small_numbers(float *xs, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) xs[i] = (float)(i % 8);
}

// The sums of rows as the next vector, as sparse.fut makes it.
__global__ void eighths(const float *ys, float *xs, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) xs[i] = (float)((long)ys[i] % 8);
}

void sparse(long n) {
  long m = std::max(1L, n / 31);
  std::vector<int> starts(m + 1, 0);
  for (long i = 0; i < m; i++) starts[i + 1] = starts[i] + (int)(i * 7919 % 63);
  long entries = starts[m];
  int *offsets, *columns;
  float *values, *xs, *ys;
  CHECK(cudaMalloc(&offsets, (m + 1) * sizeof(int)));
  CHECK(cudaMalloc(&columns, (entries + 1) * sizeof(int)));
  CHECK(cudaMalloc(&values, (entries + 1) * sizeof(float)));
  CHECK(cudaMalloc(&xs, m * sizeof(float)));
  CHECK(cudaMalloc(&ys, m * sizeof(float)));
  CHECK(cudaMemcpy(offsets, starts.data(), (m + 1) * sizeof(int), cudaMemcpyHostToDevice));
  entries_of<<<(entries + 255) / 256 + 1, 256>>>(columns, values, entries, m);
  small_numbers<<<(m + 255) / 256, 256>>>(xs, m);
  cusparseHandle_t handle;
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t in, out;
  CHECK(cusparseCreate(&handle));
  CHECK(cusparseCreateCsr(&matrix, m, m, entries, offsets, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  CHECK(cusparseCreateDnVec(&in, m, xs, CUDA_R_32F));
  CHECK(cusparseCreateDnVec(&out, m, ys, CUDA_R_32F));
  float one = 1, zero = 0;
  size_t bytes = 0;
  CHECK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, in, &zero, out, CUDA_R_32F,
                                CUSPARSE_SPMV_CSR_ALG1, &bytes));
  void *memory;
  CHECK(cudaMalloc(&memory, bytes + 1));
  report("sparse", [&] {
    CHECK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, in, &zero, out, CUDA_R_32F,
                       CUSPARSE_SPMV_CSR_ALG1, memory));
    eighths<<<(m + 255) / 256, 256>>>(ys, xs, m);
  });
  for (void *array : {(void *)offsets, (void *)columns, (void *)values, (void *)xs, (void *)ys, memory})
    CHECK(cudaFree(array));
}

struct Times {
  long width;
  __host__ __device__ long operator()(long i) const { return i * width; }
};

__global__ void mandelbrot(int *out, int width, int height, int limit) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float step = 2.0f / (height - 1);
  float left = -0.75f - step * (width - 1) / 2.0f;
  float cr = left + step * x, ci = step * y - 1.0f;
  float zr = 0, zi = 0;
  int n = 0;
  while (n < limit && zr * zr + zi * zi <= 4.0f) {
    float next = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = next;
    n++;
  }
  out[(long)y * width + x] = n;
}

__global__ void step(const float4 *bodies, float4 *moved, float3 *speeds, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 a = bodies[i];
  float3 sum = {0, 0, 0};
  for (int j = 0; j < n; j++) {
    float4 b = bodies[j];
    float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
    float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
    float f = b.w / (r2 * sqrtf(r2));
    sum.x += f * dx;
    sum.y += f * dy;
    sum.z += f * dz;
  }
  float3 v = speeds[i];
  v.x += dt * sum.x;
  v.y += dt * sum.y;
  v.z += dt * sum.z;
  speeds[i] = v;
  moved[i] = make_float4(a.x + dt * v.x, a.y + dt * v.y, a.z + dt * v.z, a.w);
}

__device__ float normal(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float poly =
      k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  float tail = 0.39894228f * expf(-0.5f * d * d) * poly;
  return d > 0 ? 1.0f - tail : tail;
}

__global__ void prices(const float *spots, const float *strikes, const float *years, float *calls, long n, float rate,
                       float volatility) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  float deviation = volatility * sqrtf(years[i]);
  float d1 = (logf(spots[i] / strikes[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / deviation;
  float d2 = d1 - deviation;
  calls[i] = spots[i] * normal(d1) - strikes[i] * expf(-rate * years[i]) * normal(d2);
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 1L << 28;
  long side = argc > 2 ? atol(argv[2]) : 1L << 14;
  int product = argc > 3 ? atoi(argv[3]) : 4096;
  int pixels = argc > 4 ? atoi(argv[4]) : 4096;
  int bodies = argc > 5 ? atoi(argv[5]) : 65536;
  float *xs, *ys, *zs, *ws;
  for (float **array : {&xs, &ys, &zs, &ws}) CHECK(cudaMalloc(array, n * sizeof(float)));
  for (float *array : {xs, ys, zs}) fill<<<(n + 255) / 256, 256>>>(array, n);
  int *counts;
  long *selected;
  CHECK(cudaMalloc(&counts, 1001 * sizeof(int)));
  CHECK(cudaMalloc(&selected, sizeof(long)));

  report("copy", [&] { CHECK(cudaMemcpyAsync(ys, xs, n * sizeof(float), cudaMemcpyDeviceToDevice)); });
  report("map", [&] { halve<<<(n + 255) / 256, 256>>>(xs, ys, n); });
  with_memory("sum", [&](void *m, size_t &b) { return cub::DeviceReduce::Sum(m, b, xs, ys, n); });
  with_memory("scan", [&](void *m, size_t &b) { return cub::DeviceScan::InclusiveSum(m, b, xs, ys, n); });
  with_memory("select",
              [&](void *m, size_t &b) { return cub::DeviceSelect::If(m, b, xs, ys, selected, n, Above{500.0f}); });
  with_memory("histogram", [&](void *m, size_t &b) {
    return cub::DeviceHistogram::HistogramEven(m, b, xs, counts, 1001, 0.0f, 1000.0f, n);
  });
  auto starts = thrust::make_transform_iterator(thrust::counting_iterator<long>(0), Times{side});
  with_memory("segments", [&](void *m, size_t &b) {
    return cub::DeviceSegmentedReduce::Sum(m, b, xs, ys, side, starts, starts + 1);
  });

  unsigned *keys = (unsigned *)xs, *ordered = (unsigned *)ys;
  scatter_bits<<<(n + 255) / 256, 256>>>(keys, n);
  with_memory("sort", [&](void *m, size_t &b) { return cub::DeviceRadixSort::SortKeys(m, b, keys, ordered, n); });
  fill<<<(n + 255) / 256, 256>>>(xs, n);
  sparse(n);

  cublasHandle_t blas;
  CHECK(cublasCreate(&blas));
  CHECK(cublasSetMathMode(blas, CUBLAS_PEDANTIC_MATH));
  float one = 1, zero = 0;
  report("transpose", [&] {
    CHECK(cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, side, side, &one, xs, side, &zero, xs, side, ys, side));
  });
  report("product", [&] {
    CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, product, product, product, &one, xs, product, zs, product, &zero,
                      ys, product));
  });

  dim3 block(32, 8), grid((pixels + 31) / 32, (pixels + 7) / 8);
  report("mandelbrot", [&] { mandelbrot<<<grid, block>>>((int *)ys, pixels, pixels, 1000); });
  CHECK(cudaMemset(zs, 0, n * sizeof(float)));
  report("nbody", [&] {
    step<<<(bodies + 255) / 256, 256>>>((float4 *)xs, (float4 *)ys, (float3 *)zs, bodies, 0.01f);
  });
  options<<<(n + 255) / 256, 256>>>(xs, ys, zs, n);
  report("blackscholes", [&] { prices<<<(n + 255) / 256, 256>>>(xs, ys, zs, ws, n, 0.03f, 0.25f); });
  CHECK(cudaDeviceSynchronize());
  return 0;
}
