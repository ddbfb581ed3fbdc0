/* Blocking regions: the processor runs other threads at the same time, however many threads are inside. */
#include <quartz/quartz.h>
#include <unistd.h>
#include "test/support/check.h"

enum { READERS = 20 };
static int ends[READERS][2];
static _Atomic int through;

static void *reads(void *arg) {
  char byte;
  qz_blocking_begin("read");
  qz_blocking_begin("nested");
  CHECK(read(ends[(long)arg][0], &byte, 1) == 1);
  qz_blocking_end();
  qz_blocking_end();
  through++;
  qz_yield();
  return (void *)(long)byte;
}
static void *writes(void *arg) {
  /* runs only if the readers have left their processors */
  for (long k = 0; k < READERS; k++) {
    char byte = (char)(k + 1);
    CHECK(write(ends[k][1], &byte, 1) == 1);
    qz_yield();
  }
  return NULL;
}
static void *short_ones(void *arg) {
  for (int k = 0; k < 1000; k++) {
    qz_blocking_begin("getppid");
    getppid();
    qz_blocking_end();
    if (k % 16 == 0) qz_yield();
  }
  return NULL;
}

int main(void) {
  for (int round = 0; round < 5; round++) {
    qz_thread_t reader[READERS], writer, many[8];
    for (long k = 0; k < READERS; k++) {
      CHECK(pipe(ends[k]) == 0);
      CHECK(qz_create(&reader[k], "reader", reads, (void *)k) == 0);
    }
    for (int k = 0; k < 10; k++) qz_yield();
    CHECK(qz_create(&writer, "writer", writes, NULL) == 0);
    for (long k = 0; k < READERS; k++) {
      void *result;
      CHECK(qz_join(reader[k], &result) == 0 && (long)result == k + 1);
      close(ends[k][0]);
      close(ends[k][1]);
    }
    CHECK(qz_join(writer, NULL) == 0);
    for (int k = 0; k < 8; k++) CHECK(qz_create(&many[k], NULL, short_ones, NULL) == 0);
    for (int k = 0; k < 8; k++) CHECK(qz_join(many[k], NULL) == 0);
    /* a sleeper is woken although the only other thread is inside a region */
    qz_blocking_begin("usleep");
    usleep(1000);
    qz_blocking_end();
  }
  CHECK(through == 5 * READERS);
  return 0;
}
