/* See pause_detector.h. Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, PAUSE; Arm
 * Architecture Reference Manual, YIELD, ISB. */
#include "pause_detector.h"
#include "sampler/linux/process_memory.h"
#include "abi/hash.h"

#include <string.h>

#if defined(__x86_64__)
#define BYTES 2u
static int is_pause(const unsigned char *bytes) { return bytes[0] == 0xf3 && bytes[1] == 0x90; }
#else
#define BYTES 4u
static int is_pause(const unsigned char *bytes) {
  uint32_t word;
  memcpy(&word, bytes, sizeof word);
  return word == 0xd503203f || word == 0xd5033fdf;
}
#endif

enum { NONE = 1, HERE, BEFORE, VERDICT = 3 };

/* A sample interrupts a thread before an instruction, or just after one that takes long. */
static uint64_t pause_at(struct qzi_pause_known *known, uint32_t pid, uint64_t pc) {
  uint64_t *place = &known->places[(pc * QZ_HASH_FACTOR) >> (64 - QZI_PAUSE_KNOWN_BITS)];
  if (!*place || *place >> 2 != pc) {
    unsigned char bytes[2 * BYTES];
    if (qzi_program_read(pid, pc - BYTES, bytes, sizeof bytes)) return 0;
    *place = pc << 2 | (is_pause(bytes + BYTES) ? HERE : is_pause(bytes) ? BEFORE : NONE);
  }
  return (*place & VERDICT) == HERE ? pc : (*place & VERDICT) == BEFORE ? pc - BYTES : 0;
}

static uint64_t print_of(const struct qzi_walk *walk, uint32_t depth) {
  uint64_t sum = depth;
  for (uint32_t k = 0; k < depth; k++) sum = (sum ^ walk->entries[k]) * QZ_HASH_FACTOR;
  return sum;
}

void qzi_pause_detector_look(struct qzi_pause_detector *pausing, struct qzi_pause_known *known, uint32_t pid,
                             uint64_t word, const struct qzi_sample *sample, struct qzi_paths *paths,
                             const struct qzi_walk *walk) {
  uint32_t waiting = pausing->depth;
  pausing->pause = sample->user ? pause_at(known, pid, sample->at.pc) : 0;
  pausing->word = word;
  pausing->depth = 0;
  if (walk && walk->in_lock) pausing->pause = 0;
  if (!walk || !walk->count || walk->in_lock) return;
  if (pausing->pause) {
    if (qzi_paths_library(paths, walk->entries[walk->count - 1]) != QZI_LIBRARY) return;
    pausing->depth = walk->count;
    pausing->path = print_of(walk, walk->count);
    pausing->waits = pausing->pause;
  } else if (waiting && walk->count >= waiting && print_of(walk, waiting) == pausing->path) {
    for (uint32_t k = waiting; k < walk->count; k++)
      if (!qzi_paths_library(paths, walk->entries[k])) return;
    pausing->depth = waiting;
    pausing->pause = pausing->waits;
  }
}

uint64_t qzi_pause_detector_at(const struct qzi_pause_detector *pausing, uint64_t word) {
  return pausing->word == word ? pausing->pause : 0;
}
