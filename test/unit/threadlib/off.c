/* Instructions that operations of the package take while nothing is published, counted one by one (PTRACE_SINGLESTEP):
 * no more than in a package without chains (QZI_WITHOUT_CHAINS), with which the other program is linked.
 *
 *   off               prints a line "NAME INSTRUCTIONS" for each operation
 *   off --than OTHER  compares with what that program prints
 */
#include <quartz/quartz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test/support/instructions.h"

#define TIMES 24 /* each is counted that often, and the minimum is used: timers and signals interrupt */
#define WARM  50 /* repetitions before that */

static void *empty(void *argument) { return argument; }
static void nothing(void *argument) {}
static qz_mutex lock = QZ_MUTEX_INIT;
static qz_sem units;
static qz_channel items;
static qz_barrier alone;

static void spawn_sync(void) {
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, nothing, NULL);
  qz_sync(&scope);
}
static void create_join(void) {
  qz_thread_t thread;
  if (qz_create(&thread, NULL, empty, NULL) || qz_join(thread, NULL)) exit(99);
}
static void lock_unlock(void) {
  qz_mutex_lock(&lock);
  qz_mutex_unlock(&lock);
}
static void post_wait(void) {
  qz_sem_post(&units);
  qz_sem_wait(&units);
}
static void send_receive(void) {
  long item = 1;
  qz_channel_send(&items, &item);
  qz_channel_receive(&items, &item);
}
static void barrier(void) { qz_barrier_wait(&alone); }
/* Another thread waits for it, and continues: a hand-over, and back. */
static qz_sem there, back;
static void hand_over(void) {
  qz_sem_post(&there);
  qz_sem_wait(&back);
}
static void *answers(void *unused) {
  for (;;) {
    qz_sem_wait(&there);
    qz_sem_post(&back);
  }
  return unused;
}
static const struct {
  const char *name;
  void (*does)(void);
} cases[] = {
  {"spawn+sync", spawn_sync},     {"create+join", create_join}, {"lock+unlock", lock_unlock}, {"post+wait", post_wait},
  {"send+receive", send_receive}, {"barrier", barrier},         {"hand-over", hand_over},     {"yield", qz_yield}};
#define CASES (sizeof cases / sizeof *cases)

/* Instructions between the marks are counted. */
static void traced(void) {
  qz_thread_t thread;
  qz_sem_init(&units, NULL, 0);
  qz_sem_init(&there, NULL, 0);
  qz_sem_init(&back, NULL, 0);
  qz_channel_init(&items, NULL, sizeof(long), 4);
  qz_barrier_init(&alone, NULL, 1, QZ_BLOCK);
  if (qz_create(&thread, NULL, answers, NULL)) exit(99);
  for (unsigned k = 0; k < CASES; k++) {
    for (int n = 0; n < WARM; n++) cases[k].does();
    for (int n = 0; n < TIMES; n++) {
      instructions_mark();
      cases[k].does();
      instructions_mark();
    }
  }
  _exit(0);
}

static uint64_t counts[CASES];

int main(int number, char **words) {
  if (number == 2 && !strcmp(words[1], "--traced")) traced();
  int failed = instructions_count(counts, CASES, TIMES);
  if (failed) return failed;
  for (unsigned k = 0; k < CASES; k++) printf("%s %llu\n", cases[k].name, (unsigned long long)counts[k]);
  if (number < 3) return 0;
  fflush(stdout);
  FILE *other = popen(words[2], "r");
  char name[32];
  unsigned long long its;
  for (unsigned k = 0; other && k < CASES; k++) {
    if (fscanf(other, "%31s %llu", name, &its) != 2 || strcmp(name, cases[k].name)) return 1;
    if (counts[k] > its) { /* fewer: the compiler has optimized something */
      printf("%s: %llu instructions, %llu without chains\n", name, (unsigned long long)counts[k], its);
      failed = 1;
    }
  }
  if (!other || pclose(other)) return 1;
  return failed;
}
