/* Threads that poll: samples made by hand, of code in this process. */
#include "sampler/waits/poll_detector.h"

#include <sys/mman.h>
#include <unistd.h>
#include "sampler/machine_code/code_flow.h"
#include "test/support/check.h"

#ifdef QZI_DECODES

enum { PAGE = 4096, AT = 2048 };
static unsigned char *code; /* a page, between two that are not mapped */
static struct qzi_poll_detector polling;

static const unsigned char polls[] = {0xf3, 0x90, 0x83, 0x3f, 0x00, 0x74, 0xf9};  /* pause; cmpl $0,(%rdi); je */
static const unsigned char stores[] = {0xf3, 0x90, 0x89, 0x07, 0x90, 0x74, 0xf9}; /* pause; mov %eax,(%rdi); je */
/* A count on the stack beside the flag: add $1,(%rsp) by way of %rax; mov 0x60(%rbp),%eax; test; jne out; cmp
 * $0x88b7,%rax; jbe. Polls, unless %rbp is the frame, where the flag is the thread's own. */
static const unsigned char framed[] = {0x48, 0x8b, 0x04, 0x24, 0x48, 0x83, 0xc0, 0x01, 0x48, 0x89, 0x04,
                                       0x24, 0x8b, 0x45, 0x60, 0x85, 0xc0, 0x75, 0x17, 0x48, 0x8b, 0x04,
                                       0x24, 0x48, 0x3d, 0xb7, 0x88, 0x00, 0x00, 0x76, 0xe1};
static const unsigned char tries[] = {0x31, 0xc0, 0xf0, 0x0f, 0xb1, 0x17, 0x75, 0xf8}; /* lock cmpxchg */

static uint64_t put(unsigned offset, const void *bytes, size_t count) {
  memset(code, 0x90, PAGE);
  memcpy(code + offset, bytes, count);
  memset(&polling, 0, sizeof polling);
  return (uint64_t)(uintptr_t)(code + offset);
}
static uint64_t look(uint64_t pc, uint64_t fp, const struct qzi_walk *walk) {
  static struct qzi_sample sample;
  sample.at = (struct qzi_registers){.pc = pc, .sp = 0x10000, .fp = fp};
  return qzi_poll_detector_look(&polling, NULL, (uint32_t)getpid(), &sample, walk);
}

int main(void) {
  code = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(code != MAP_FAILED);
  CHECK(!mprotect(code, PAGE, PROT_NONE) && !mprotect(code + 2 * PAGE, PAGE, PROT_NONE));
  code += PAGE;
  uint32_t pid = (uint32_t)getpid();

  static const struct {
    const char *what;
    const unsigned char *bytes;
    size_t count;
    unsigned offset;  /* on the page */
    int seen, framed; /* where the sample is, from the loop's beginning; whether %rbp is the frame */
    int is;
  } examples[] = {
    {"at its first instruction", polls, sizeof polls, AT, 0, 0, 1},
    {"in the middle", polls, sizeof polls, AT, 2, 0, 1},
    {"before it", polls, sizeof polls, AT, -1, 0, 0},
    {"behind it", polls, sizeof polls, AT, 7, 0, 0},
    {"at the beginning of what is mapped", polls, sizeof polls, 0, 2, 0, 1},
    {"at the end of what is mapped", polls, sizeof polls, PAGE - sizeof polls, 2, 0, 1},
    {"it writes", stores, sizeof stores, AT, 2, 0, 0},
    {"its flag is elsewhere", framed, sizeof framed, AT, 0, 0, 1},
    {"its flag is in its own frame", framed, sizeof framed, AT, 0, 1, 0},
  };
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
    uint64_t start = put(examples[k].offset, examples[k].bytes, examples[k].count);
    uint64_t found = look(start + (uint64_t)examples[k].seen, examples[k].framed ? 0x10100 : 0, NULL);
    if (found != (examples[k].is ? start : 0)) fprintf(stderr, "%s\n", examples[k].what);
    CHECK(found == (examples[k].is ? start : 0));
  }

  /* A frame pointer below the stack, or far above it, is none. */
  uint64_t start = put(AT, framed, sizeof framed);
  CHECK(look(start, 0xff00, NULL) == start && look(start, 0x10000 + QZI_RUNNING_STACK, NULL) == start);
  CHECK(!look(start, 0x10000, NULL)); /* and the verdicts are kept apart */
  CHECK(look(start, 0, NULL) == start);

  /* A verdict is kept: the code is not read again. */
  memset(code, 0x90, PAGE);
  CHECK(look(start, 0, NULL) == start);
  memset(&polling, 0, sizeof polling);
  CHECK(!look(start, 0, NULL));

  /* In a procedure that the loop called: by the walk. */
  start = put(AT, polls, sizeof polls);
  struct qzi_walk walk = {.callers = 2, .caller = {{.pc = start - 100}, {.pc = start + 2}}};
  CHECK(!look(start - 200, 0, NULL));
  CHECK(look(start - 200, 0, &walk) == start);
  walk.callers = 1;
  CHECK(!look(start - 200, 0, &walk));
  CHECK(!look(0x1000, 0, NULL)); /* no code there */

  /* Whether it tries to take a lock. */
  CHECK(!qzi_poll_detector_tries(pid, put(AT, polls, sizeof polls)));
  CHECK(qzi_poll_detector_tries(pid, put(AT, tries, sizeof tries)));
  CHECK(qzi_poll_detector_tries(pid, put(0, tries, sizeof tries)));
  CHECK(!qzi_poll_detector_tries(pid, put(AT, tries, sizeof tries) - 1)); /* no loop begins there */
  CHECK(!qzi_poll_detector_tries(pid, 0x1000));
  return 0;
}

#else
int main(void) { return 77; }
#endif
