// What the reference programs share: reading and writing values in the binary format, and timing.
//
// Every program is used as: PROGRAM -t FILE -r N < input > output
// It reads its values from standard input, runs N times, writes the run times in microseconds to FILE, one a line,
// and the result of the last run to standard output.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  int rank;
  int64_t dims[3];
  void *data;
} value;

static inline void fail(const char *why) {
  fprintf(stderr, "%s\n", why);
  exit(1);
}

static inline size_t count(value v) {
  size_t n = 1;
  for (int i = 0; i < v.rank; i++) n *= (size_t)v.dims[i];
  return n;
}

static inline value read_value(const char *type, size_t bytes) {
  char head[7];
  value v = {0};
  if (fread(head, 1, 7, stdin) != 7 || head[0] != 'b' || head[1] != 2) fail("no binary value");
  v.rank = head[2];
  if (memcmp(head + 3, type, 4) != 0 || v.rank > 3) fail("a value of another type");
  if (fread(v.dims, 8, (size_t)v.rank, stdin) != (size_t)v.rank) fail("no shape");
  v.data = malloc(count(v) * bytes + 1);
  if (fread(v.data, bytes, count(v), stdin) != count(v)) fail("not enough elements");
  return v;
}

static inline int64_t read_i64(void) { return *(int64_t *)read_value(" i64", 8).data; }
static inline int32_t read_i32(void) { return *(int32_t *)read_value(" i32", 4).data; }

static inline void write_value(const char *type, size_t bytes, value v) {
  char head[3] = {'b', 2, (char)v.rank};
  fwrite(head, 1, 3, stdout);
  fwrite(type, 1, 4, stdout);
  fwrite(v.dims, 8, (size_t)v.rank, stdout);
  fwrite(v.data, bytes, count(v), stdout);
}

static inline int64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

// How often to run, and where the times go. Used as: for (timer t = timer_start(argc, argv); timer_next(&t);) { .. }
typedef struct {
  int runs, done;
  FILE *times;
  int64_t start;
} timer;

static inline timer timer_start(int argc, char **argv) {
  timer t = {.runs = 1, .done = -1};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "-r") == 0) t.runs = atoi(argv[i + 1]);
    if (strcmp(argv[i], "-t") == 0) t.times = fopen(argv[i + 1], "w");
  }
  return t;
}

static inline bool timer_next(timer *t) {
  int64_t now = now_us();
  if (t->done >= 0 && t->times) fprintf(t->times, "%lld\n", (long long)(now - t->start));
  t->done++;
  if (t->done == t->runs && t->times) fclose(t->times);
  t->start = now_us();
  return t->done < t->runs;
}

// For programs that work in place: the run begins here, once they have a copy of their input.
static inline void timer_restart(timer *t) { t->start = now_us(); }
