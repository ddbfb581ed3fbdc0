/* How samples of running threads are counted: work, waiting, and hand-overs of procedures that first spin, then block.
 */
#include "sampler/waits/cpu_use.h"

#include "stub_paths.h"

enum { OWN = 0x100, OTHER = 0x200, LOCK = 0x300, COPY = 0x400, MINE = 0x500, LAYER = 0x600, HERE = 0x700 };
static const struct procedure known[] = {{LOCK, QZI_LIBRARY_C, "pthread_cond_signal"},
                                         {COPY, QZI_LIBRARY_C, "memcpy"},
                                         {MINE, 0, "my_futex_lock"},
                                         {LAYER, QZI_LIBRARY, ""},
                                         {HERE, 0, ""}};

static struct qz_session_view view = {.processors = 2};
static struct qz_profile head;
static struct qzi_file file = {.head = &head};
static struct qzi_interner in = {.file = &file, .view = &view};
static struct qzi_cpu_use use;

/* Adds a sample in a call of `called` by `caller`; returns 1 if it counted as waiting, 2: as handing on, 0: as work. */
static int add(uint32_t runnable, int spins, uint64_t caller, uint64_t called, uint64_t pc) {
  struct qzi_walk walk = {.caller_entry = caller, .called = called};
  struct qz_cpu_use before = head.cpu_use[0];
  qzi_cpu_use_add(&use, &in, runnable, paths, spins, pc, caller ? &walk : NULL);
  CHECK(head.cpu_use[0].samples == before.samples + 1);
  return (int)(head.cpu_use[0].spinning - before.spinning + 2 * (head.cpu_use[0].handing - before.handing));
}

int main(void) {
  procedures = known;
  procedures_count = sizeof known / sizeof *known;
  static const struct {
    int spins;
    uint64_t caller, called, pc;
    int is;
  } samples[] = {
    {0, OWN, LOCK, LOCK, 0},                       /* a lock, taken by a procedure that never spun */
    {1, OWN, 0, HERE, 1},                          /* it spins: from now on it is known for that */
    {0, OWN, LOCK, LOCK, 2},                       /* the same lock again */
    {0, OWN, COPY, COPY, 0},                       /* what it calls is nothing by which threads wait */
    {0, OWN, MINE, MINE, 0},                       /* a procedure of the program's, whatever its name */
    {0, OWN, 0, LAYER, 2},                         /* in a library, whose frames are not on the walk */
    {0, OWN, 0, HERE, 0},                          /* in its own code */
    {0, OTHER, LOCK, LOCK, 0}, {1, 0, 0, HERE, 1}, /* without a walk */
    {0, 0, 0, LAYER, 0},
  };
  enum { COUNT = sizeof samples / sizeof *samples };
  for (unsigned k = 0; k < COUNT; k++) {
    int is = add(2, samples[k].spins, samples[k].caller, samples[k].called, samples[k].pc);
    if (is != samples[k].is) fprintf(stderr, "sample %u\n", k);
    CHECK_IS(is, samples[k].is);
  }
  CHECK(head.cpu_use[1].samples == 0); /* never more runnable threads than CPUs */
  CHECK_IS(add(3, 1, OWN, 0, HERE), 1);
  CHECK_IS(add(3, 0, OWN, LOCK, LOCK), 2);
  CHECK(head.cpu_use[1].samples == 2 && head.cpu_use[1].spinning == 1 && head.cpu_use[1].handing == 1);

  /* As many procedures are remembered as there is room for: the one that was added first makes room. */
  for (uint64_t k = 0; k < QZI_SPINNERS - 1; k++) {
    CHECK_IS(add(1, 1, 0x1000 + k, 0, HERE), 1);
    CHECK_IS(add(1, 1, 0x1000 + k, 0, HERE), 1); /* again: takes no more room */
  }
  CHECK_IS(add(1, 0, OWN, LOCK, LOCK), 2);
  CHECK_IS(add(1, 1, 0x2000, 0, HERE), 1);
  CHECK_IS(add(1, 0, OWN, LOCK, LOCK), 0);
  CHECK_IS(add(1, 0, 0x1000, LOCK, LOCK), 2);
  return 0;
}
