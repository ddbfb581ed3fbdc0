/* "What if" of plain pthreads, without hooks: see ../what-if.test.ts. */
#include <pthread.h>
#define UNITS_ALONE
#include "units.h"

static pthread_mutex_t narrow = PTHREAD_MUTEX_INITIALIZER;

PROCEDURE static void called(void) { units(300); }
static void *a(void *unused) {
  called();
  return unused;
}
static void *b(void *unused) {
  units(200);
  return unused;
}
static void *comes_late(void *unused) {
  pthread_mutex_lock(&narrow);
  units(150);
  pthread_mutex_unlock(&narrow);
  units(100);
  return unused;
}

PROCEDURE static void create(pthread_t *thread, void *(*start)(void *)) {
  if (pthread_create(thread, NULL, start, NULL)) exit(99);
}

int main(int count, char **words) {
  pthread_t first, second;
  if (count > 1 && !strcmp(words[1], "branches")) { /* 450; without a 350, without b 450 */
    units(100);
    create(&first, a);
    create(&second, b);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    units(50);
  } else { /* 500 one after the other, 325 if no thread had to wait */
    pthread_mutex_lock(&narrow);
    create(&first, comes_late);
    units(250);
    pthread_mutex_unlock(&narrow);
    units(75);
    pthread_join(first, NULL);
  }
  return 0;
}
