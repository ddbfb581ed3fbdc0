/* Three locks taken one inside the other. Two threads take `book` and then `account`, a third takes `account`, all of
 * them go on to `journal`, and a fourth takes that alone. Nearly all of the time goes into what is done with `journal`
 * held: who waits for the other two waits for that.
 *
 * expect P 4
 * expect root: npt 1
 * expect procedure append: npt > 0.8
 * expect finding 1: lock-contention journal
 * expect no finding: lock-contention book
 * expect no finding: lock-contention account
 */
#include <quartz/quartz.h>
#include "work.h"

#define ROUNDS 60
static qz_mutex book, account, journal;

PROCEDURE void append(void) {
  MUST(qz_mutex_lock(&journal));
  work_sleep(3 * MS);
  MUST(qz_mutex_unlock(&journal));
}
PROCEDURE void post(void) {
  MUST(qz_mutex_lock(&account));
  append();
  MUST(qz_mutex_unlock(&account));
}
PROCEDURE void order(void) {
  MUST(qz_mutex_lock(&book));
  post();
  MUST(qz_mutex_unlock(&book));
}

PROCEDURE void *orders(void *unused) {
  for (int k = 0; k < ROUNDS; k++) order();
  return unused;
}
PROCEDURE void *posts(void *unused) {
  for (int k = 0; k < ROUNDS; k++) post();
  return unused;
}
PROCEDURE void *appends(void *unused) {
  for (int k = 0; k < ROUNDS; k++) append();
  return unused;
}

int main(void) {
  qz_thread_t thread[4];
  MUST(qz_mutex_init(&book, "book", QZ_BLOCK));
  MUST(qz_mutex_init(&account, "account", QZ_BLOCK));
  MUST(qz_mutex_init(&journal, "journal", QZ_BLOCK));
  MUST(qz_create(&thread[0], "orders", orders, NULL));
  MUST(qz_create(&thread[1], "orders", orders, NULL));
  MUST(qz_create(&thread[2], "posts", posts, NULL));
  MUST(qz_create(&thread[3], "appends", appends, NULL));
  for (int k = 0; k < 4; k++) MUST(qz_join(thread[k], NULL));
  return 0;
}
