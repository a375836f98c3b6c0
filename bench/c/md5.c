// Reference for bench/programs/md5.fut: the first word of a dictionary with a digest.
#include "bench.h"

static uint32_t sines[64];
static const uint32_t shifts[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};

static void md5(const uint8_t *word, int64_t n, uint32_t out[4]) {
  uint32_t a0 = 0x67452301, b0 = 0xefcdab89, c0 = 0x98badcfe, d0 = 0x10325476;
  int64_t blocks = (n + 8) / 64 + 1;
  for (int64_t k = 0; k < blocks; k++) {
    uint8_t bytes[64] = {0};
    for (int64_t i = 0; i < 64; i++) {
      int64_t at = k * 64 + i;
      if (at < n) bytes[i] = word[at];
      else if (at == n) bytes[i] = 0x80;
      else if (at >= blocks * 64 - 8) bytes[i] = (uint8_t)((uint64_t)(n * 8) >> (8 * (at - (blocks * 64 - 8))));
    }
    uint32_t m[16], a = a0, b = b0, c = c0, d = d0;
    memcpy(m, bytes, 64);
    for (uint32_t i = 0; i < 64; i++) {
      uint32_t f, g;
      if (i < 16) f = (b & c) | (~b & d), g = i;
      else if (i < 32) f = (d & b) | (~d & c), g = (5 * i + 1) % 16;
      else if (i < 48) f = b ^ c ^ d, g = (3 * i + 5) % 16;
      else f = c ^ (b | ~d), g = (7 * i) % 16;
      uint32_t x = a + f + sines[i] + m[g], s = shifts[i / 16 * 4 + i % 4];
      a = d, d = c, c = b;
      b += x << s | x >> (32 - s);
    }
    a0 += a, b0 += b, c0 += c, d0 += d;
  }
  out[0] = a0, out[1] = b0, out[2] = c0, out[3] = d0;
}

int main(int argc, char **argv) {
  value wanted = read_value(" u32", 4), ls = read_value(" i64", 8), letters = read_value("  u8", 1);
  int64_t n = ls.dims[0], *length = ls.data, *start = malloc((size_t)(n + 1) * 8), first = -1;
  for (int i = 0; i < 64; i++) sines[i] = (uint32_t)floor(fabs(sin(i + 1)) * 4294967296.0);
  for (timer t = timer_start(argc, argv); timer_next(&t);) {
    start[0] = 0;
    for (int64_t i = 0; i < n; i++) start[i + 1] = start[i] + length[i];
    first = INT64_MAX;
#pragma omp parallel for reduction(min : first)
    for (int64_t i = 0; i < n; i++) {
      uint32_t digest[4];
      md5((uint8_t *)letters.data + start[i], length[i], digest);
      if (memcmp(digest, wanted.data, 16) == 0 && i < first) first = i;
    }
    if (first == INT64_MAX) first = -1;
  }
  write_value(" i64", 8, (value){0, {0}, &first});
}
