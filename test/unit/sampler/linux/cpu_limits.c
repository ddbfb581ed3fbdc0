/* Limits of control groups, in folders that look like theirs; and threads that are confined by their affinity. */
#include "sampler/linux/cpu_limits.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sampler/snapshot/kernel/confined_threads.h"
#include "test/support/check.h"

#define MS UINT64_C(1000000)

static char root[64];

static void folder(const char *path) {
  char whole[400];
  snprintf(whole, sizeof whole, "%s%s", root, path);
  for (char *at = whole + strlen(root) + 1; (at = strchr(at, '/')); at++) {
    *at = 0;
    mkdir(whole, 0700);
    *at = '/';
  }
  mkdir(whole, 0700);
}
static void file(const char *path, const char *text) {
  char whole[400];
  snprintf(whole, sizeof whole, "%s%s", root, path);
  FILE *out = fopen(whole, "w");
  CHECK(out && fputs(text, out) >= 0 && !fclose(out));
}
static void finds(const char *text, uint32_t milli, const char *path) {
  char group[512], expected[512] = "";
  uint32_t found = qzi_cpu_quota_find(root, text, group, sizeof group);
  if (milli) snprintf(expected, sizeof expected, "%s%s", root, path);
  if (found != milli || strcmp(group, expected)) fprintf(stderr, "%u %s for %s\n", found, group, text);
  CHECK(found == milli && !strcmp(group, expected));
}

/* cgroup v2: the least limit among a group and those around it. */
static void unified(void) {
  folder("/sys/fs/cgroup/pod/box");
  file("/sys/fs/cgroup/pod/cpu.max", "150000 100000\n");
  file("/sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
  finds("0::/pod/box\n", 1500, "/sys/fs/cgroup/pod");
  file("/sys/fs/cgroup/pod/box/cpu.max", "50000 100000\n");
  finds("0::/pod/box\n", 500, "/sys/fs/cgroup/pod/box");
  finds("0::/\n", 0, "");
  finds("", 0, "");
  /* in a container the path may be that of the host: its group is where groups are mounted */
  file("/sys/fs/cgroup/cpu.max", "200000 100000\n");
  finds("0::/docker/0123\n", 2000, "/sys/fs/cgroup");
  file("/sys/fs/cgroup/cpu.max", "nonsense");
  finds("0::/docker/0123\n", 0, "");
}

/* cgroup v1: of the list of controllers, cpu, and not cpuset or cpuacct alone. */
static void legacy(void) {
  folder("/sys/fs/cgroup/cpu,cpuacct/job");
  file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "25000\n");
  file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  finds("4:cpuset:/job\n3:cpuacct:/job\n", 0, "");
  finds("4:cpuset:/job\n3:cpu,cpuacct:/job\n", 250, "/sys/fs/cgroup/cpu,cpuacct/job");
  file("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  finds("3:cpu,cpuacct:/job\n", 0, "");
}

static void counts(void) {
  char group[200];
  struct qzi_throttle now;
  folder("/group");
  snprintf(group, sizeof group, "%s/group", root);
  file("/group/cpu.stat", "usage_usec 5\nnr_periods 30\nnr_throttled 7\nthrottled_usec 4000\n");
  qzi_throttle_read(group, &now);
  CHECK(now.periods == 30 && now.throttled_periods == 7 && now.throttled_ns == 4 * MS);
  file("/group/cpu.stat", "nr_periods 30\nnr_throttled 7\nthrottled_time 5\n");
  qzi_throttle_read(group, &now);
  CHECK(now.throttled_ns == 5);
  qzi_throttle_read("/nowhere", &now);
  CHECK(now.periods == 0 && now.throttled_periods == 0 && now.throttled_ns == 0);
}

static pthread_barrier_t known, over;
static uint32_t tids[2];
static void *thread(void *at) {
  tids[(size_t)at] = (uint32_t)syscall(SYS_gettid);
  pthread_barrier_wait(&known);
  pthread_barrier_wait(&over);
  return NULL;
}
static void pin(uint32_t tid, int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  CHECK(!sched_setaffinity((pid_t)tid, sizeof mask, &mask));
}

/* Two threads on P = 2: pinned to the same CPU, and to one each. */
static void confined(void) {
  cpu_set_t mask;
  int cpus[2], found = 0;
  CHECK(!sched_getaffinity(0, sizeof mask, &mask));
  for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
    if (CPU_ISSET(cpu, &mask)) cpus[found++] = cpu;
  pthread_barrier_init(&known, NULL, 3);
  pthread_barrier_init(&over, NULL, 3);
  pthread_t threads[2];
  for (size_t k = 0; k < 2; k++) CHECK(!pthread_create(&threads[k], NULL, thread, (void *)k));
  pthread_barrier_wait(&known);
  struct qzi_confinement confinement = {0};
  struct qz_cpu_limits row = {0};
  CHECK(qzi_confinement_due(&confinement, MS));
  for (int k = 0; k < 2; k++) pin(tids[k], cpus[0]);
  qzi_confinement_look(&confinement, &row, tids, 2, 2, 100 * MS);
  CHECK(row.confined_ns == 10 * MS && row.confined_saving_ns == 5 * MS && row.confined_wait_ns == 10 * MS);
  CHECK(row.fewest == 1 && confinement.cpus == 1);
  CHECK(!qzi_confinement_due(&confinement, 109 * MS) && qzi_confinement_due(&confinement, 110 * MS));
  qzi_confinement_look(&confinement, &row, tids, 1, 2, 110 * MS); /* one thread needs no more than one CPU */
  CHECK(row.confined_ns == 10 * MS && confinement.cpus == 0);
  qzi_confinement_look(&confinement, &row, tids, 2, 2, 200 * MS); /* nobody looked for long */
  CHECK(row.confined_ns == 30 * MS);
  qzi_confinement_look(&confinement, &row, tids, 2, 1, 210 * MS); /* there is only one CPU */
  CHECK(row.confined_ns == 30 * MS);
  if (found == 2) {
    pin(tids[1], cpus[1]);
    qzi_confinement_look(&confinement, &row, tids, 2, 2, 220 * MS);
    CHECK(row.confined_ns == 30 * MS && confinement.cpus == 0);
  }
  uint32_t nobody[2] = {0x7ffffffe, 0x7ffffffd};
  qzi_confinement_look(&confinement, &row, nobody, 2, 2, 230 * MS); /* they have ended */
  CHECK(row.confined_ns == 30 * MS && confinement.cpus == 0);
  pthread_barrier_wait(&over);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
}

int main(void) {
  snprintf(root, sizeof root, "/tmp/quartz-limits-XXXXXX");
  CHECK(mkdtemp(root));
  unified();
  legacy();
  counts();
  confined();
  char command[100];
  snprintf(command, sizeof command, "rm -r %s", root);
  CHECK(!system(command));
  return 0;
}
