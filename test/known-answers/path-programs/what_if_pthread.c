/* "What if" of plain pthreads, without hooks: see ../what-if.test.ts, which computes the answers from the pieces. */
#include <pthread.h>
#define UNITS_ALONE
#include "pieces.h"

static pthread_mutex_t narrow = PTHREAD_MUTEX_INITIALIZER;

PROCEDURE static void called(void) { piece('a', 300); }
static void *a(void *unused) {
  called();
  return unused;
}
static void *b(void *unused) {
  piece('b', 200);
  return unused;
}
static int comes;
static void *comes_late(void *unused) {
  __atomic_store_n(&comes, 1, __ATOMIC_RELAXED);
  pthread_mutex_lock(&narrow);
  piece('c', 150);
  pthread_mutex_unlock(&narrow);
  piece('d', 100);
  return unused;
}

PROCEDURE static void create(pthread_t *thread, void *(*start)(void *)) {
  if (pthread_create(thread, NULL, start, NULL)) exit(99);
}

int main(int count, char **words) {
  pthread_t first, second;
  if (count > 1 && !strcmp(words[1], "branches")) { /* 450; without a 350, without b 450 */
    piece('p', 100);
    create(&first, a);
    create(&second, b);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    piece('s', 50);
  } else { /* 500 one after the other, 325 if no thread had to wait */
    pthread_mutex_lock(&narrow);
    create(&first, comes_late);
    while (!__atomic_load_n(&comes, __ATOMIC_RELAXED)) usleep(100);
    piece('h', 250);
    pthread_mutex_unlock(&narrow);
    piece('r', 75);
    pthread_join(first, NULL);
  }
  print_pieces();
  return 0;
}
