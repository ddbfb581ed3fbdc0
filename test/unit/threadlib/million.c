/* One million threads alive at once: each blocks, all are woken and joined; memory stays bounded. */
#include <quartz/quartz.h>
#include <unistd.h>
#include "test/support/check.h"

static qz_sem gate;
static void *waits(void *arg) {
  qz_sem_wait(&gate);
  return arg;
}

static long status_pages(void) {
  long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  CHECK(f && fscanf(f, "%*d %ld", &pages) == 1);
  fclose(f);
  return pages;
}

static long available_mib(void) {
  char line[256];
  long kib = 0;
  FILE *f = fopen("/proc/meminfo", "r");
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "MemAvailable: %ld", &kib) == 1) break;
  if (f) fclose(f);
  return kib / 1024;
}

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 1000000, need = count * 5 / 1024 + 1000;
  if (available_mib() < need) {
    printf("skipped: %ld MiB of memory are free, %ld are needed\n", available_mib(), need);
    return 77;
  }
  qz_thread_t *thread = malloc((size_t)count * sizeof *thread);
  CHECK(thread);
  for (long k = 0; k < count; k++) thread[k].thread = NULL; /* touched: not counted below */
  qz_sem_init(&gate, "gate", 0);
  long before = status_pages();
  for (long k = 0; k < count; k++) CHECK(qz_create(&thread[k], NULL, waits, (void *)k) == 0);
  for (int k = 0; k < 3; k++) {
    qz_yield();
    qz_sleep_ns(1000000);
  }
  long each = (status_pages() - before) * sysconf(_SC_PAGESIZE) / count;
  printf("%ld bytes a thread\n", each);
  CHECK(each < 3 * sysconf(_SC_PAGESIZE));
  for (long k = 0; k < count; k++) qz_sem_post(&gate);
  for (long k = 0; k < count; k++) {
    void *result;
    CHECK(qz_join(thread[k], &result) == 0 && (long)result == k);
  }
  return 0;
}
