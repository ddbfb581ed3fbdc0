/* Pages that are touched for the first time, each once: 300,000 on behalf of `many`, and by another thread 100,000 on
 * behalf of `few`; then the same with pages that are already present. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE  4096
#define PAGES 10000

static char *map(void) {
  char *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) abort();
  madvise(at, PAGES * PAGE, MADV_NOHUGEPAGE);
  return at;
}
__attribute__((noinline)) static void touch(volatile char *at) {
  for (size_t k = 0; k < PAGES; k++) at[k * PAGE] = 1;
}
__attribute__((noinline)) static void touch_again(volatile char *at) {
  for (size_t k = 0; k < PAGES; k++) at[k * PAGE] = 2;
}
static void rounds(int count) {
  for (int k = 0; k < count; k++) {
    char *at = map();
    touch(at);
    for (int again = 0; again < 10; again++) touch_again(at);
    munmap(at, PAGES * PAGE);
  }
}
__attribute__((noinline)) static void many(void) {
  rounds(30);
  __asm__ volatile("");
}
__attribute__((noinline)) static void *few(void *unused) {
  rounds(10);
  return unused;
}

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, few, NULL)) return 1;
  many();
  return pthread_join(thread, NULL);
}
