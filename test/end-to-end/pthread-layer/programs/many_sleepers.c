/* Beside 400 threads that sleep, each of which has taken `arrival` once, eight threads take `everyone` 20,000 times
 * each, and each of 100 locks of their own (`several[k]`) five times: more pairs of place and lock than fit into a
 * small call table. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define IDLE  400
#define EIGHT 8
#define OWN   100
static pthread_mutex_t arrival = PTHREAD_MUTEX_INITIALIZER, everyone = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t several[EIGHT * OWN];
static int arrived;

static void *idle(void *unused) {
  pthread_mutex_lock(&arrival);
  __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&arrival);
  for (;;) pause();
  return unused;
}

static void *busy(void *own) {
  pthread_mutex_t *mine = own;
  for (int k = 0; k < 20000; k++) {
    pthread_mutex_lock(&everyone);
    pthread_mutex_unlock(&everyone);
  }
  for (int round = 0; round < 5; round++)
    for (int k = 0; k < OWN; k++) {
      pthread_mutex_lock(&mine[k]);
      pthread_mutex_unlock(&mine[k]);
    }
  return NULL;
}

int main(void) {
  pthread_t thread, threads[EIGHT];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  for (int k = 0; k < EIGHT * OWN; k++) pthread_mutex_init(&several[k], NULL);
  for (int k = 0; k < IDLE; k++)
    if (pthread_create(&thread, &small, idle, NULL)) return 77;
  while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < IDLE) usleep(1000);
  for (int k = 0; k < EIGHT; k++)
    if (pthread_create(&threads[k], &small, busy, &several[k * OWN])) return 77;
  for (int k = 0; k < EIGHT; k++) pthread_join(threads[k], NULL);
  exit(0);
}
