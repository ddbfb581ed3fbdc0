/* Threads without progress: samples made by hand, of code in this process. */
#include "sampler/waits/no_progress.h"

#include <unistd.h>
#include "sampler/machine_code/code_flow.h"
#include "test/support/check.h"

#ifdef QZI_DECODES

#define AT 600u /* offset of the loop; around it is more code than is read */

static unsigned char waits[1200], works[1200];
static unsigned char stack[256];
static struct qzi_sample sample;

static uint64_t look(struct qzi_no_progress *of, const unsigned char *code, unsigned offset, uint64_t registers) {
  sample = (struct qzi_sample){.at.pc = (uint64_t)(uintptr_t)(code + AT + offset),
                               .registers = registers,
                               .user = 1,
                               .copy = {.address = 4096, .bytes = sizeof stack, .data = stack}};
  return qzi_no_progress_look(of, (uint32_t)getpid(), 7, &sample);
}

/* Samples at both instructions of the loop in the same state until it is found; returns how many that takes. */
static unsigned until_found(struct qzi_no_progress *of, const unsigned char *code) {
  for (unsigned k = 1; k <= 100; k++)
    if (look(of, code, k % 2 ? 0 : 2, 5)) return k;
  return 0;
}

int main(void) {
  static const unsigned char polls[] = {0xf3, 0x90, 0x83, 0x3f, 0x00, 0x74, 0xf9};  /* pause; cmpl $0,(%rdi); je */
  static const unsigned char stores[] = {0xf3, 0x90, 0x89, 0x07, 0x90, 0x74, 0xf9}; /* pause; mov %eax,(%rdi); je */
  struct qzi_no_progress of = {.count = 0};
  memset(waits, 0x90, sizeof waits);
  memset(works, 0x90, sizeof works);
  memcpy(waits + AT, polls, sizeof polls);
  memcpy(works + AT, stores, sizeof stores);
  uint64_t loop = (uint64_t)(uintptr_t)(waits + AT);

  CHECK_IS(until_found(&of, waits), 2 + 12); /* two states, which are seen twelve times again */
  CHECK(of.loop == loop);
  /* In the kernel, neither is shown. */
  sample.user = 0;
  sample.registers = 99;
  CHECK(qzi_no_progress_look(&of, (uint32_t)getpid(), 7, &sample) == loop);
  /* Another state is progress: registers, */
  CHECK(!look(&of, waits, 0, 6));
  CHECK_IS(until_found(&of, waits), 12);
  /* the stack, */
  stack[100]++;
  CHECK(!look(&of, waits, 0, 5));
  stack[100]--;
  CHECK_IS(until_found(&of, waits), 12);
  /* a lock that was taken or a call that was made (the record's word), */
  CHECK(!qzi_no_progress_look(&of, (uint32_t)getpid(), 8, &sample));
  CHECK_IS(until_found(&of, waits), 2 + 12);
  /* or other code. */
  CHECK(!look(&of, waits, 400, 5));
  CHECK_IS(of.count, 1);

  /* Code that writes memory may work, in whatever state it is. */
  of = (struct qzi_no_progress){.count = 0};
  CHECK_IS(until_found(&of, works), 0);
  /* More states than are kept are no wait. */
  of = (struct qzi_no_progress){.count = 0};
  for (unsigned k = 0; k < 10 * QZI_NO_PROGRESS_SEEN; k++) CHECK(!look(&of, waits, 0, k % (QZI_NO_PROGRESS_SEEN + 1)));
  return 0;
}

#else
int main(void) { return 77; }
#endif
