/* A program of the thread package, with hooks: one thread waits in a loop that is not marked, directly and through a
 * getter, while another one works for 200 ms of processor time each; then it works as long, in a loop that reads the
 * same flag. */
#include <quartz/quartz.h>
#include <time.h>

static int up;
volatile unsigned long package_result; /* not left out */

__attribute__((noinline)) static int is_up(const int *flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
__attribute__((noinline)) static void watches(void) {
  while (!__atomic_load_n(&up, __ATOMIC_ACQUIRE)) continue;
}
__attribute__((noinline)) static void asks(void) {
  while (!is_up(&up)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
__attribute__((noinline)) static void hashes(void) {
  unsigned long hash = 14695981039346656037ul;
  while (!is_up(&up)) hash = (hash ^ (hash >> 7)) * 1099511628211ul;
  package_result = hash;
}
__attribute__((noinline)) static void works(void) {
  struct timespec begin, now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 200000000);
}

static void *first(void *unused) {
  watches();
  return unused;
}
static void *second(void *unused) {
  asks();
  return unused;
}
static void *third(void *unused) {
  hashes();
  return unused;
}

static void in_turn(const char *name, void *(*routine)(void *)) {
  qz_thread_t thread;
  up = 0;
  qz_create(&thread, name, routine, NULL);
  works();
  __atomic_store_n(&up, 1, __ATOMIC_RELEASE);
  qz_join(thread, NULL);
}

int main(void) {
  in_turn("+watches", first);
  in_turn("+asks", second);
  in_turn("-hashes", third);
  return 0;
}
