/* Deterministic mutations of a valid input, for fuzz targets that are run without libFuzzer: a part of every test
 * run, the same on every machine. QUARTZ_FUZZ_ROUNDS sets how many. */
#ifndef TEST_MUTATE_H
#define TEST_MUTATE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static uint64_t mutate_state = UINT64_C(0x853c49e6748fea9b);
static inline uint64_t mutate_random(void) {
  mutate_state ^= mutate_state << 13;
  mutate_state ^= mutate_state >> 7;
  mutate_state ^= mutate_state << 17;
  return mutate_state;
}

/* Changes one to four places; mostly in the first `head` bytes, where the structure is. */
static inline size_t mutate(uint8_t *data, size_t bytes, size_t head) {
  static const uint64_t odd[] = {0,
                                 1,
                                 7,
                                 8,
                                 255,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 UINT64_C(1) << 32,
                                 UINT64_C(1) << 63,
                                 UINT64_MAX,
                                 UINT64_MAX - 7,
                                 UINT64_MAX / 2};
  for (unsigned k = 1 + (unsigned)(mutate_random() % 4); k > 0; k--) {
    size_t range = mutate_random() % 3 ? head : bytes, at = mutate_random() % (range < bytes ? range : bytes);
    uint64_t value = mutate_random() % 2 ? odd[mutate_random() % (sizeof odd / sizeof *odd)] : mutate_random();
    size_t width = (size_t)1 << mutate_random() % 4;
    if (mutate_random() % 4 == 0) value = (uint64_t)data[at] + (mutate_random() % 3) - 1;
    at = at / width * width;
    memcpy(data + at, &value, width < bytes - at ? width : bytes - at);
  }
  return mutate_random() % 16 ? bytes : mutate_random() % (bytes + 1);
}

static inline int mutate_write(const char *path, const uint8_t *seed, size_t bytes) {
  FILE *file = fopen(path, "w");
  if (!file) return 1;
  size_t written = fwrite(seed, 1, bytes, file);
  return fclose(file) || written != bytes;
}

static inline int mutate_run(const uint8_t *seed, size_t bytes, size_t head, unsigned rounds) {
  const char *setting = getenv("QUARTZ_FUZZ_ROUNDS");
  if (setting) rounds = (unsigned)strtoul(setting, NULL, 10);
  uint8_t *data = malloc(bytes);
  if (!data) return 1;
  LLVMFuzzerTestOneInput(seed, bytes);
  for (unsigned k = 0; k < rounds; k++) {
    memcpy(data, seed, bytes);
    size_t size = mutate(data, bytes, head);
    uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees a read past the end */
    if (!exact) return 1;
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
  }
  free(data);
  return 0;
}

#endif
