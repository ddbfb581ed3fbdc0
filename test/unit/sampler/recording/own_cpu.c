/* Which CPUs the sampling thread keeps off. */
#include "sampler/recording/own_cpu.h"

#include <assert.h>
#include <stdio.h>

static cpu_set_t set(unsigned long cpus) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (unsigned k = 0; k < 64; k++)
    if (cpus >> k & 1) CPU_SET(k, &all);
  return all;
}
static int chosen(unsigned long allowed, const struct qzi_used_cpus *used, uint64_t since_ns, uint32_t runnable,
                  unsigned long expected) {
  cpu_set_t of = set(allowed), result, right = set(expected);
  qzi_own_cpu_choose(&result, &of, used, since_ns, runnable);
  return CPU_EQUAL(&result, &right);
}

int main(void) {
  static struct qzi_used_cpus used;
  assert(chosen(3, &used, 100, 1, 3)); /* no sample yet */
  qzi_used_cpus_note(&used, 1, 100);
  assert(chosen(3, &used, 90, 1, 1));
  assert(chosen(3, &used, 100, 1, 1));
  assert(chosen(3, &used, 101, 1, 3));   /* too long ago */
  assert(chosen(3, &used, 90, 2, 3));    /* the program needs both */
  assert(chosen(2, &used, 90, 0, 2));    /* there is no other */
  assert(chosen(0xf, &used, 90, 3, 13)); /* of four */
  qzi_used_cpus_note(&used, 0, 150);
  assert(chosen(3, &used, 90, 1, 3)); /* it was on both */
  assert(chosen(3, &used, 120, 1, 2));
  qzi_used_cpus_note(&used, -1, 200); /* unknown, or beyond those that are known */
  qzi_used_cpus_note(&used, 100000, 200);
  assert(chosen(3, &used, 160, 1, 3));

  /* The calling thread is moved, and back. */
  struct qzi_own_cpu own = {0};
  cpu_set_t before, now;
  assert(!sched_getaffinity(0, sizeof before, &before));
  int here = sched_getcpu();
  if (CPU_COUNT(&before) < 2 || here < 0 || here >= (int)QZI_USED_CPUS) {
    puts("one CPU: no thread can be moved");
    return 0;
  }
  uint64_t time_ns = UINT64_C(1000000000);
  struct qzi_used_cpus its = {0};
  qzi_used_cpus_note(&its, here, time_ns);
  qzi_own_cpu_begin(&own, 0);
  qzi_own_cpu_look(&own, &its, 1, time_ns);
  assert(!sched_getaffinity(0, sizeof now, &now) && CPU_EQUAL(&now, &before)); /* it must not */
  qzi_own_cpu_begin(&own, 1);
  qzi_own_cpu_look(&own, &its, 1, time_ns);
  assert(!sched_getaffinity(0, sizeof now, &now) && !CPU_ISSET(here, &now));
  assert(CPU_COUNT(&now) == CPU_COUNT(&before) - 1 && sched_getcpu() != here);
  qzi_own_cpu_look(&own, &its, (uint32_t)CPU_COUNT(&before), time_ns + 1000);
  assert(!sched_getaffinity(0, sizeof now, &now) && !CPU_ISSET(here, &now)); /* looks are not more frequent */
  qzi_own_cpu_begin(&own, 1);                                                /* begun again, it knows what it may use */
  qzi_own_cpu_look(&own, &its, 1, time_ns + 1000);
  qzi_own_cpu_look(&own, &its, 1, time_ns + 100000000);
  assert(!sched_getaffinity(0, sizeof now, &now) && CPU_EQUAL(&now, &before));
  puts("own_cpu: ok");
  return 0;
}
