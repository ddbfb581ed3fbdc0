/* Processor time of another thread. */
#ifndef TEST_CALL_COUNTS_H
#define TEST_CALL_COUNTS_H
#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* Waits until the thread has used that many nanoseconds (less than a second) of processor time. */
static inline void until_used(pthread_t thread, long ns) {
  clockid_t its;
  struct timespec used = {0, 0};
  pthread_getcpuclockid(thread, &its);
  while (used.tv_sec == 0 && used.tv_nsec < ns) {
    usleep(10000);
    clock_gettime(its, &used);
  }
}
#endif
