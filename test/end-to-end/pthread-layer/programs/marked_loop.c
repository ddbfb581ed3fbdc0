/* A thread that waits 400 ms in a loop that it marks, ten times. Not linked with any library of Quartz. */
#include <pthread.h>
#include <quartz/spin.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int done_flag;

static void *waits(void *unused) {
  for (int k = 1; k <= 10; k++) {
    QZ_SPIN_BEGIN(&done_flag);
    while (done_flag < k) continue;
    QZ_SPIN_END(&done_flag);
  }
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, waits, NULL);
  for (int k = 0; k < 10; k++) {
    usleep(40000);
    done_flag++;
  }
  pthread_join(thread, NULL);
  return 0;
}
