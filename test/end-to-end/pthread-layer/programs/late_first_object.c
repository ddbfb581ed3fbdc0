/* Two threads work, 300 and 360 ms by the clock; the first object that any thread uses is the join at the end. */
#include <pthread.h>
#include "work.h"

static void *longer(void *unused) {
  work_us(360000);
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, longer, NULL);
  work_us(300000);
  pthread_join(thread, NULL);
  return 0;
}
