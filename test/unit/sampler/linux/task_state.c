/* Whether threads have a CPU, as the kernel counts how often they got one and left one. */
#include "sampler/linux/task_state.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "test/support/check.h"

#define TIMES 2000

struct other {
  int cpu;      /* that it works on; -1: it sleeps */
  uint32_t tid; /* 0: it has not begun */
  int end;      /* 1: it is to return */
  int ends[2];  /* of a pipe */
};

static void *other(void *argument) {
  struct other *its = argument;
  char byte;
  if (its->cpu >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)its->cpu, &set);
    CHECK(!sched_setaffinity(0, sizeof set, &set));
  }
  __atomic_store_n(&its->tid, (uint32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
  if (its->cpu < 0) CHECK(read(its->ends[0], &byte, 1) == 1);
  while (!__atomic_load_n(&its->end, __ATOMIC_RELAXED)) continue;
  return NULL;
}

static pthread_t begin(struct other *its) {
  pthread_t thread;
  CHECK(!pipe(its->ends));
  CHECK(!pthread_create(&thread, NULL, other, its));
  while (!__atomic_load_n(&its->tid, __ATOMIC_ACQUIRE)) sched_yield();
  return thread;
}

int main(void) {
  struct qz_profile head = {.pid = (uint32_t)getpid()};
  struct qzi_asker asker;
  struct qzi_task_state own = {0}, beside = {0}, asleep = {0};
  cpu_set_t set;
  qzi_asker_open(&asker, &head);
  uint32_t tid = (uint32_t)syscall(SYS_gettid);
  int cpu = sched_getcpu(), has = 0, lacks = 0, sleeps = 0;
  CPU_ZERO(&set);
  CPU_SET((unsigned)cpu, &set);
  CHECK(!sched_setaffinity(0, sizeof set, &set));
  if (qzi_ask_on_cpu(&asker, &own, tid) < 0 && qzi_ask_on_cpu(&asker, &own, tid) < 0) {
    printf("skipped: the kernel does not count how often threads get a CPU\n");
    return 77;
  }
  struct other works = {.cpu = cpu}, rests = {.cpu = -1};
  pthread_t working = begin(&works), resting = begin(&rests);
  usleep(10000); /* until it sleeps: if it does not yet, it is not on this CPU, either */
  for (unsigned k = 0; k < TIMES; k++) {
    has += qzi_ask_on_cpu(&asker, &own, tid) == 1; /* who asks has a CPU, unless it lost it in between */
    int answer = qzi_ask_on_cpu(&asker, &beside, works.tid);
    CHECK(answer != 1); /* this CPU is taken, by who asks */
    lacks += answer == 0;
    sleeps += qzi_ask_on_cpu(&asker, &asleep, rests.tid) == 0;
  }
  CHECK(has > TIMES / 2 && lacks > TIMES / 2 && sleeps > TIMES / 2);
  CHECK(qzi_ask_last_cpu(&asker, &own, tid) == cpu && qzi_ask_last_cpu(&asker, &beside, works.tid) == cpu);
  CHECK(!beside.counted); /* the next reading for its account is a new one */
  __atomic_store_n(&works.end, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&rests.end, 1, __ATOMIC_RELAXED);
  CHECK(write(rests.ends[1], "", 1) == 1);
  CHECK(!pthread_join(working, NULL) && !pthread_join(resting, NULL));
  CHECK(qzi_ask_on_cpu(&asker, &beside, works.tid) < 0 && qzi_ask_last_cpu(&asker, &beside, works.tid) < 0);
  return 0;
}
