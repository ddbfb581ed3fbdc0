/* See no_progress.h. */
#include "no_progress.h"

#include <string.h>
#include "poll_detector.h"
#include "abi/hash.h"

#define MATCHED_LEAST 12u /* samples: 25 ms of processor time, or more where samples are further apart */
#define BEFORE        160u
#define AROUND        480u
#define COMPARED      4096u /* bytes of the stack that must be the same */

static uint64_t mix(uint64_t sum, uint64_t value) {
  sum = (sum ^ value) * QZ_HASH_FACTOR;
  return sum ^ sum >> 29;
}

static uint64_t print_of(const struct qzi_sample *sample) {
  uint64_t sum = sample->registers, word;
  for (uint64_t at = 0; at + 8 <= sample->copy.bytes && at < COMPARED; at += 8) {
    memcpy(&word, sample->copy.data + at, 8);
    sum = mix(sum, word);
  }
  return mix(sum, sample->at.pc);
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
