/* See poll_detector.h. */
#include "poll_detector.h"

#include "loop_callees.h"
#include "abi/hash.h"
#include "sampler/machine_code/loops/arm_poll_loop.h"
#include "sampler/machine_code/code_flow.h"
#include "sampler/machine_code/x86_decode.h"
#include "sampler/machine_code/loops/poll_loop.h"
#include "sampler/machine_code/loops/queue_lock.h"
#include "sampler/linux/process_memory.h"

/* Bytes of code examined before a sample: more than a loop may have (poll_loop.c). */
#define BEFORE 160u
#define AROUND 480u /* bytes examined in all */
#define PAGE   UINT64_C(4096)

int qzi_code_around(uint32_t pid, uint64_t first, uint64_t last, unsigned char *bytes, size_t room,
                    struct qzi_code *code) {
  uint64_t from = first - BEFORE, to = from + room, page = first & ~(PAGE - 1), page_end = (last & ~(PAGE - 1)) + PAGE;
  if (last - first >= room - BEFORE) return -1;
  /* The pages before and after need not be mapped. */
  for (unsigned edges = 0; edges < 4; edges++) {
    uint64_t low = edges & 1 && page > from ? page : from, high = edges & 2 && page_end < to ? page_end : to;
    *code = (struct qzi_code){.address = low, .bytes = bytes, .count = (size_t)(high - low)};
    if (!qzi_program_read(pid, low, bytes, code->count)) return 0;
  }
  return -1;
}

/* The verdict on one instruction: where its loop begins; 0: it may be work. */
static uint64_t look_at(struct qzi_poll_detector *polling, struct qzi_paths *paths, uint32_t pid, uint64_t pc,
                        int framed) {
  unsigned char bytes[AROUND];
  struct qzi_code code;
  struct qzi_callees callees = {paths, qzi_callee_look};
  uint64_t seen = pc << 1 | (uint64_t)(framed != 0);
  uint64_t at = (seen * QZ_HASH_FACTOR) >> (64 - QZI_POLL_DETECTOR_BITS);
  if (polling->known[at].seen == seen) return polling->known[at].loop;
  if (!qzi_new_code_may(polling->new_code)) return 0;
  uint64_t begun_ns = qzi_clock_ns();
  uint64_t loop =
    qzi_code_around(pid, pc, pc, bytes, AROUND, &code) ? 0 : qzi_poll_loop(&code, pc, framed, paths ? &callees : NULL);
  polling->known[at].seen = seen;
  polling->known[at].loop = loop;
  qzi_new_code_spend(polling->new_code, begun_ns);
  return loop;
}

uint64_t qzi_poll_detector_look(struct qzi_poll_detector *polling, struct qzi_paths *paths, uint32_t pid,
                                const struct qzi_sample *sample, const struct qzi_walk *walk) {
  uint64_t sp = sample->at.sp, fp = sample->at.fp, loop = 0;
  loop = look_at(polling, paths, pid, sample->at.pc, fp >= sp && fp - sp < QZI_RUNNING_STACK);
  for (uint32_t k = 0; !loop && walk && k < walk->callers; k++)
    loop = look_at(polling, paths, pid, walk->caller[k].pc, walk->caller[k].framed);
  return loop;
}

#ifdef QZI_DECODES
#define LEADING 384u /* further bytes before a loop, for the code that leads to it */

static int waits_for_turn(uint32_t pid, uint64_t start) {
  unsigned char bytes[AROUND + LEADING];
  struct qzi_code code;
  return (!qzi_code_around(pid, start - LEADING, start, bytes, sizeof bytes, &code) ||
          !qzi_code_around(pid, start, start, bytes, AROUND, &code)) &&
         qzi_queue_lock(&code, start);
}

int qzi_poll_detector_tries(uint32_t pid, uint64_t start) {
  unsigned char bytes[AROUND];
  struct qzi_code code;
  if (waits_for_turn(pid, start)) return 1;
  if (qzi_code_around(pid, start, start, bytes, AROUND, &code)) return 0;
  struct instruction its;
  int tries = 0;
  for (uint64_t at = start; at < code.address + code.count && at - start < BEFORE;) {
    if (!qzi_decode(code.bytes + (at - code.address), (size_t)(code.address + code.count - at), &its)) return 0;
    at += its.length;
    tries |= its.tries;
    if (qzi_is_jump(&its) && at + (uint64_t)its.number == start) return tries;
  }
  return 0;
}
#else
int qzi_poll_detector_tries(uint32_t pid, uint64_t start) {
  unsigned char bytes[AROUND];
  struct qzi_code code;
  return QZI_THIS_MACHINE == QZI_AARCH64 && !qzi_code_around(pid, start, start, bytes, AROUND, &code) &&
         qzi_arm_loop_tries(&code, start);
}
#endif
