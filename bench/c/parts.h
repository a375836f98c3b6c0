// Work in as many parts as there are threads: part k of n points begins at part_start(n, k).
#include "bench.h"
#ifdef _OPENMP
#include <omp.h>
#else
static inline int omp_get_max_threads(void) { return 1; }
#endif

static inline int64_t part_start(int64_t n, int k) { return n * k / omp_get_max_threads(); }
