/* The same walks with unwind information and without: a program is stopped again and again, and its stack walked by the
 * tables of its binaries, then by their machine code alone. Without a command it is a procedure of this file, which
 * sorts, formats, searches and computes in the C library; with one (after --) it is that:
 *
 *     sampler_unwind_compare SAMPLER [--every MICROSECONDS] [--samples N] [--verbose] [--least PERCENT] -- COMMAND...
 *
 * --least: it fails if fewer walks are complete with tables, or without.
 */
#include "sampler/callpath/recipes.h"
#include "sampler/callpath/unwinder.h"
#include "test/support/self_profile.h"
#include "sampler/profile/interned_stacks.h"

#include <errno.h>
#include <math.h>
#include <regex.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#ifdef __x86_64__

static struct self_profile self;

/* ---- the program ---- */

static volatile double kept;
static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}
static __attribute__((noinline)) void sorts(double *numbers, size_t count) {
  for (size_t k = 0; k < count; k++) numbers[k] = sin((double)k) * exp((double)(k % 7));
  qsort(numbers, count, sizeof *numbers, by_size);
  kept += numbers[count / 2];
}
static __attribute__((noinline)) size_t writes(const double *numbers, size_t count) {
  char text[256];
  size_t length = 0;
  for (size_t k = 0; k < count; k++)
    length += (size_t)snprintf(text, sizeof text, "%g %a %zu", numbers[k], numbers[k], k);
  return length;
}
static __attribute__((noinline)) int searches(int times) {
  regex_t pattern;
  int found = 0;
  if (regcomp(&pattern, "(a|b)*c[0-9]+d", REG_EXTENDED)) return 0;
  for (int k = 0; k < times; k++) found += !regexec(&pattern, "xxabababababc123456d", 0, NULL, 0);
  regfree(&pattern);
  return found;
}
static void work(void) {
  static double numbers[2000];
  for (;;) {
    sorts(numbers, 2000);
    kept += (double)writes(numbers, 300) + searches(20);
  }
}

static pid_t start(char **command) {
  pid_t child = fork();
  if (child) return child;
  if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) _exit(127);
  if (!command) {
    raise(SIGSTOP);
    work();
  }
  execvp(command[0], command);
  _exit(127);
}

/* ---- walks ---- */

struct result {
  uint64_t samples, complete[2], same, both, longer;
};

static void open_profile(pid_t child) {
  const char *clause = NULL;
  char why[256];
  snprintf(self.path, sizeof self.path, "/tmp/quartz-compare-%d.quartz", (int)getpid());
  self.fake = fake_make(1, 8, 8, 128);
  CHECK(!qz_session_open(&self.view, self.fake.fd, &clause));
  CHECK(!qzi_file_create(&self.file, self.path, &(struct qzi_replaceable){.any = 1}, 1 << 24, why, sizeof why));
  self.file.head->pid = (uint32_t)child;
  CHECK(!qzi_intern_open(&self.interner, &self.file, &self.view));
}

static uint32_t modules_seen;
static void read_modules(pid_t child) {
  struct qzi_modules *modules = qzi_modules_read((uint32_t)child);
  if (!modules) return;
  qzi_modules_store(&self.interner, modules);
  qzi_modules_free(modules);
  modules_seen = (uint32_t)qzi_file_count(&self.file, QZ_SECTION_MODULES);
}

static void walk(pid_t child, struct qzi_unwinder *const unwinders[2], struct result *result, int verbose) {
  static struct qzi_frame frames[2][QZI_FRAMES_MOST];
  struct user_regs_struct registers;
  uint32_t count[2];
  int complete[2];
  if (ptrace(PTRACE_GETREGS, child, NULL, &registers)) return;
  struct qzi_registers from = {.pc = registers.rip, .sp = registers.rsp, .fp = registers.rbp, .fp_known = 1};
  for (int k = 0; k < 2; k++) {
    count[k] = qzi_unwind(unwinders[k], &from, NULL, frames[k], QZI_FRAMES_MOST, &complete[k]);
    for (int again = 0; again < 5000 && qzi_unwind_cut(unwinders[k]) == QZ_CUT_LATER; again++)
      count[k] = qzi_unwind(unwinders[k], &from, NULL, frames[k], QZI_FRAMES_MOST, &complete[k]);
  }
  uint32_t same = 0, least = count[0] < count[1] ? count[0] : count[1];
  while (same < least && frames[0][same].pc == frames[1][same].pc) same++;
  result->samples++;
  for (int k = 0; k < 2; k++) result->complete[k] += complete[k] != 0;
  if (complete[0]) {
    result->both++;
    result->same += same == count[0] && complete[1];
  } else if (count[1] > count[0]) {
    result->longer++;
  }
  if (!verbose || (complete[0] && complete[1] && same == count[0])) return;
  const struct qzi_frame *at = &frames[0][!complete[0] ? count[0] - 1 : same ? same - 1 : 0];
  printf("  %s behind %lx: %s+%lx, cut %d\n", complete[0] ? "differs" : "cut", (long)at->pc,
         qz_symbols_linkage(unwinders[0]->symbols, at->pc), (long)(at->pc - at->entry),
         qzi_unwind_cut(unwinders[complete[0] != 0]));
}

static int stopped(pid_t child, int *deliver) {
  int status;
  *deliver = 0;
  if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) return 0;
  if (WSTOPSIG(status) != SIGSTOP && WSTOPSIG(status) != SIGTRAP) *deliver = WSTOPSIG(status);
  return 1;
}

static void compare(char **command, long every_us, uint64_t samples, struct result *result, int verbose) {
  pid_t child = start(command);
  int deliver;
  CHECK(child > 0);
  if (!stopped(child, &deliver)) return;
  open_profile(child);
  struct qzi_unwinder *unwinders[2];
  for (int k = 0; k < 2; k++) CHECK((unwinders[k] = qzi_unwinder_open(&self.interner)));
  unwinders[1]->no_tables = 1;
  while (result->samples < samples) {
    if (ptrace(PTRACE_CONT, child, NULL, (void *)(long)deliver)) break;
    struct timespec pause = {0, every_us * 1000};
    nanosleep(&pause, NULL);
    kill(child, SIGSTOP);
    if (!stopped(child, &deliver)) break;
    while (deliver && !ptrace(PTRACE_CONT, child, NULL, (void *)(long)deliver))
      if (!stopped(child, &deliver)) goto end;
    read_modules(child);
    walk(child, unwinders, result, verbose);
  }
end:
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  uint64_t links[QZ_UNWOUND_BY_COUNT][QZ_LINK_COUNT] = {{0}};
  for (uint64_t k = 0; k < qzi_file_count(&self.file, QZ_SECTION_UNWINDING); k++)
    for (int by = 0; by < QZ_UNWOUND_BY_COUNT; by++)
      for (int link = 0; link < QZ_LINK_COUNT; link++) links[by][link] += self.file.unwinding[k].steps[by][link];
  printf("%lu samples; complete %lu by tables, %lu without; of those by tables %.2f %% the same; %lu longer without\n",
         (long)result->samples, (long)result->complete[0], (long)result->complete[1],
         result->both ? 100.0 * (double)result->same / (double)result->both : 0, (long)result->longer);
  for (int by = 0; by < QZ_UNWOUND_BY_COUNT; by++)
    printf("  steps by %s: %lu valid, %lu likely, %lu invalid\n",
           by == 0   ? "table"
           : by == 1 ? "code"
                     : "pointer",
           (long)links[by][0], (long)links[by][1], (long)links[by][2]);
  for (int k = 0; k < 2; k++) qzi_unwinder_close(unwinders[k]);
  self_profile_close(&self);
}

int main(int count, char **arguments) {
  long every_us = 300;
  uint64_t samples = 300, least = 0;
  int verbose = 0, k = 2; /* 1: the sampler, which ctest names */
  for (; k < count && strcmp(arguments[k], "--"); k++) {
    if (!strcmp(arguments[k], "--every") && k + 1 < count) every_us = strtol(arguments[++k], NULL, 10);
    if (!strcmp(arguments[k], "--samples") && k + 1 < count) samples = strtoul(arguments[++k], NULL, 10);
    if (!strcmp(arguments[k], "--least") && k + 1 < count) least = strtoul(arguments[++k], NULL, 10);
    if (!strcmp(arguments[k], "--verbose")) verbose = 1;
  }
  struct result result = {0};
  compare(k + 1 < count ? arguments + k + 1 : NULL, every_us, samples, &result, verbose);
  if (!result.samples) {
    puts("no process may be stopped here");
    return 77;
  }
  if (k + 1 < count) {
    CHECK(result.complete[0] * 100 >= result.samples * least && result.complete[1] * 100 >= result.samples * least);
    return 0;
  }
  CHECK(result.both * 100 >= result.samples * 95);
  /* 99 %, and three standard errors of such a share in that many samples */
  double most = 0.01 * (double)result.both;
  CHECK((double)(result.both - result.same) <= most + 3 * sqrt(most));
  return 0;
}

#else
int main(void) {
  puts("of x86-64 alone");
  return 77;
}
#endif
