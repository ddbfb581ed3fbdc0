/* Walks of this process's own stack, from procedures with frames of every kind that compilers make: the contents of the
 * stack are known, because this test determines them. */
#include "sampler/callpath/recipes.h"
#include "sampler/callpath/unwinder.h"
#include "test/support/self_profile.h"

#include <alloca.h>
#include <signal.h>

static struct self_profile self;
static struct qzi_unwinder *unwinder;
static struct qzi_frame frames[QZI_FRAMES_MOST];
static uint32_t count;
static int complete;
static uint32_t most = QZI_FRAMES_MOST;
static int whole_copy; /* 1: the walk gets a copy of the stack; 2: of its first 64 bytes */

#define HERE __attribute__((noinline, noclone))
static volatile unsigned long kept;

/* A signal handler of the test walks its own stack, which allocates memory; it interrupts nothing that does. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "report_signal_unsafe=0"; }

/* A part of the stack, copied as the sampler does it, including what a sanitizer keeps between variables. */
__attribute__((no_sanitize("address"))) static HERE void copy_stack(unsigned char *to, uint64_t from, size_t bytes) {
  const volatile unsigned char *at = (const volatile unsigned char *)(uintptr_t)from;
  for (size_t k = 0; k < bytes; k++) to[k] = at[k];
}

/* The innermost procedure. The registers have to be its own. */
static HERE void stop(void) {
  struct qzi_registers now = {.fp_known = 1};
#if defined(__x86_64__)
  __asm__ volatile("lea 0(%%rip), %0; mov %%rsp, %1; mov %%rbp, %2" : "=r"(now.pc), "=r"(now.sp), "=r"(now.fp));
#else
  __asm__ volatile("adr %0, .; mov %1, sp; mov %2, x29" : "=r"(now.pc), "=r"(now.sp), "=r"(now.fp));
#endif
  static unsigned char bytes[1 << 14];
  struct qzi_stack_copy copy = {.address = now.sp, .bytes = whole_copy == 2 ? 64 : 1024, .data = bytes};
  copy_stack(bytes, now.sp, copy.bytes);
  count = qzi_unwind(unwinder, &now, whole_copy ? &copy : NULL, frames, most, &complete);
  kept++;
}

static HERE void plain(void) {
  stop();
  kept++;
}
static HERE void large(void) { /* a frame of several pages */
  volatile char room[20000];
  room[kept % sizeof room] = 1;
  stop();
  kept += (unsigned long)room[0];
}
static HERE void varying(void) { /* its size is only known at run time: a frame pointer */
  volatile char *room = alloca(100 + kept % 900);
  room[0] = 1;
  stop();
  kept += (unsigned long)room[0];
}
static HERE unsigned long many(unsigned long a, unsigned long b, unsigned long c) { /* saves all that it may */
  unsigned long d = a * b, e = b * c, f = c * a, g = d ^ e;
  stop();
  return a + b + c + d + e + f + g + kept;
}
static HERE void with_many(void) { kept += many(kept, kept + 1, kept + 2); }
static HERE void deep(unsigned levels) {
  if (levels)
    deep(levels - 1);
  else
    stop();
  kept++;
}
static HERE void deep_50(void) {
  deep(50);
  kept++;
}
static HERE void handler(int number) {
  (void)number;
  stop();
  kept++;
}
static HERE void signalled(void) {
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  kept++;
}

struct walk {
  const char *what;
  void (*from)(void);
  const void *through[4]; /* procedures that have to be on it, innermost first */
  uint32_t repeated;      /* the number of times for the second of them */
  int complete;           /* the walk reaches the program's entry point */
};
static const struct walk walks[] = {
  {"a plain frame", plain, {stop, plain}, 1, 1},
  {"a frame of several pages", large, {stop, large}, 1, 1},
  {"a frame whose size is known at run time", varying, {stop, varying}, 1, 1},
  {"all registers saved", with_many, {stop, many, with_many}, 1, 1},
  {"recursion", deep_50, {stop, deep, deep_50}, 51, 1},
  /* the frame that the kernel makes for a handler has rules of an unsupported kind: the walk ends there */
  {"a signal handler", signalled, {stop, handler}, 1, 0},
};

static uint32_t found(const void *procedure) {
  uint32_t times = 0;
  for (uint32_t k = 0; k < count; k++) times += frames[k].entry == (uint64_t)(uintptr_t)procedure;
  return times;
}

static HERE void take(const struct walk *walk) {
  walk->from();
  kept++;
}

int main(void) {
  self_profile_open(&self);
  unwinder = qzi_unwinder_open(&self.interner);
  if (!unwinder) {
    puts("built without libdw");
    return 77;
  }
  qzi_unwinder_prepare(unwinder);
  int failed = 0;
  for (size_t k = 0; k < sizeof walks / sizeof *walks; k++)
    for (whole_copy = 0; whole_copy < 3; whole_copy++) {
      take(&walks[k]);
      uint32_t at = 0;
      int right = complete == walks[k].complete;
      for (size_t n = 0; n < 4 && walks[k].through[n]; n++) {
        while (at < count && frames[at].entry != (uint64_t)(uintptr_t)walks[k].through[n]) at++;
        if (at == count) right = 0;
      }
      if (found(walks[k].through[1]) != walks[k].repeated || found(main) != (uint32_t)complete || frames[0].module == 0)
        right = 0;
      if (right) continue;
      printf("%s, copy %d: %u frames, %s\n", walks[k].what, whole_copy, count, complete ? "complete" : "cut short");
      failed = 1;
    }

  /* At most the requested number; the innermost ones. */
  whole_copy = 0;
  most = 3;
  deep_50();
  CHECK(count == 3 && !complete && found(stop) == 1 && found(deep) == 2);
  most = QZI_FRAMES_MOST;

  /* An implausible frame ends the walk: nothing is guessed. */
  static const struct qzi_registers wrong[] = {
    {.pc = 0}, {.pc = 12345, .sp = 4096}, {.pc = UINT64_MAX, .sp = UINT64_MAX}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    frames[0].entry = 0;
    CHECK(qzi_unwind(unwinder, &wrong[k], NULL, frames, most, &complete) <= 1 && !complete && frames[0].entry == 0);
  }
  struct qzi_registers no_stack = {.pc = (uint64_t)(uintptr_t)plain, .sp = 4096};
  CHECK_IS(qzi_unwind(unwinder, &no_stack, NULL, frames, most, &complete), 1);
  CHECK(!complete && frames[0].entry == (uint64_t)(uintptr_t)plain);

  /* Any instruction of a procedure belongs to it. */
  uint64_t entry = (uint64_t)(uintptr_t)plain;
  CHECK(qzi_unwind_entry(unwinder, entry) == entry && qzi_unwind_entry(unwinder, entry + 1) == entry);
  CHECK(qzi_unwind_entry(unwinder, 12345) == 0);
  CHECK(!qzi_unwind_standard(unwinder, entry) && !qzi_unwind_vdso(unwinder, entry));

#if defined(__x86_64__)
  /* Made by hand, as Go makes the stacks of goroutines: it begins at a procedure's first instruction, not after a call.
   */
  struct qzi_unwinder *without = qzi_unwinder_open(&self.interner);
  CHECK(without);
  without->no_tables = 1; /* nor has Go */
  uint64_t made[4] = {(uint64_t)(uintptr_t)large + 1};
  struct qzi_registers on_it = {.pc = entry, .sp = (uint64_t)(uintptr_t)made};
  do {
    count = qzi_unwind(without, &on_it, NULL, frames, most, &complete);
  } while (qzi_unwind_cut(without) == QZ_CUT_LATER);
  CHECK_IS(count, 2);
  CHECK(complete && frames[1].entry == (uint64_t)(uintptr_t)large);
  qzi_unwinder_close(without);
#endif

  qzi_unwinder_close(unwinder);
  self_profile_close(&self);
  return failed;
}
