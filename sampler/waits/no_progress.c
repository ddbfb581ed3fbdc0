/* See no_progress.h. */
#include "no_progress.h"

#include <string.h>
#include "poll_detector.h"
#include "abi/hash.h"

#define MATCHED_LEAST 12u /* samples: 25 ms of processor time, or more where samples are further apart */
#define BEFORE        160u
#define AROUND        480u
#define LANES         4u
#define COMPARED      4096u /* bytes of the stack that must be the same */

static uint64_t mix(uint64_t sum, uint64_t value) {
  sum = (sum ^ value) * QZ_HASH_FACTOR;
  return sum ^ sum >> 29;
}

static uint64_t print_of(const struct qzi_sample *sample) {
  uint64_t sums[LANES] = {sample->registers, 1, 2, 3}, words[LANES], at = 0; /* sums that do not wait for each other */
  uint64_t bytes = sample->copy.bytes < COMPARED ? sample->copy.bytes : COMPARED;
  for (; at + sizeof words <= bytes; at += sizeof words) {
    memcpy(words, sample->copy.data + at, sizeof words);
    for (unsigned k = 0; k < LANES; k++) sums[k] = mix(sums[k], words[k]);
  }
  for (; at + 8 <= bytes; at += 8) {
    memcpy(words, sample->copy.data + at, 8);
    sums[0] = mix(sums[0], words[0]);
  }
  for (unsigned k = 1; k < LANES; k++) sums[0] = mix(sums[0], sums[k]);
  return mix(sums[0], sample->at.pc);
}

/* Finds the loop in which the thread was seen; 0: none that only waits. */
static uint64_t loop_of(const struct qzi_no_progress *stalled, uint32_t pid) {
  unsigned char bytes[AROUND];
  struct qzi_code code;
  if (stalled->last - stalled->first > BEFORE ||
      qzi_code_around(pid, stalled->first, stalled->last, bytes, AROUND, &code))
    return 0;
  return qzi_store_free_loop(&code, stalled->first, stalled->last);
}

uint64_t qzi_no_progress_look(struct qzi_no_progress *stalled, uint32_t pid, uint64_t word,
                              const struct qzi_sample *sample) {
  uint64_t pc = sample->at.pc;
  if (stalled->word != word || (stalled->count && (pc + BEFORE < stalled->last || pc > stalled->first + BEFORE))) {
    stalled->word = word;
    stalled->count = stalled->matched = 0;
    stalled->loop = 0;
  }
  /* Within the kernel: an interrupt has led there from the loop, or a system call from elsewhere (its registers differ
   * from those of all samples of the loop). It neither confirms nor refutes that the thread makes no progress. */
  if (!sample->user) return stalled->loop;
  uint64_t print = print_of(sample);
  uint32_t held = stalled->count < QZI_NO_PROGRESS_SEEN ? stalled->count : QZI_NO_PROGRESS_SEEN, k = 0;
  while (k < held && stalled->seen[k] != print) k++;
  if (k < held) {
    stalled->matched++;
  } else {
    stalled->matched = 0;
    stalled->loop = 0;
    stalled->seen[stalled->count % QZI_NO_PROGRESS_SEEN] = print;
    if (!stalled->count || pc < stalled->first) stalled->first = pc;
    if (!stalled->count || pc > stalled->last) stalled->last = pc;
    stalled->count++;
  }
  if (stalled->matched % MATCHED_LEAST == 0 && stalled->matched && !stalled->loop)
    stalled->loop = loop_of(stalled, pid);
  return stalled->loop;
}
