/* Programs for which the kernel does most of the work: `malloc` (two threads that allocate, fill and free blocks of 1
 * MB, which the allocator returns to the system each time), `write` (of 16 bytes each), `map` (memory that is mapped
 * for each use), `wake` (two threads that make wake calls without waiters, by syscall()). */
#include <pthread.h>
#include <stdlib.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BLOCKS 24
#define BYTES  ((size_t)1 << 20)

static void use(void *at) {
  if (!at) abort();
  memset(at, 1, BYTES);
  __asm__ volatile("" ::: "memory");
}

static void *fill_blocks(void *unused) {
  void *blocks[BLOCKS];
  for (int round = 0; round < 60; round++) {
    for (int k = 0; k < BLOCKS; k++) use(blocks[k] = malloc(BYTES));
    for (int k = BLOCKS; k-- > 0;) free(blocks[k]);
  }
  return unused;
}

static void write_lines(void) {
  char name[] = "/tmp/quartz-kernel-work-XXXXXX";
  int file = mkstemp(name);
  unlink(name);
  for (int k = 0; k < 1000000; k++) {
    if (k % 65536 == 0 && lseek(file, 0, SEEK_SET)) abort();
    if (write(file, "0123456789abcdef", 16) != 16) abort();
  }
  close(file);
}

static void map_each(void) {
  for (int k = 0; k < 1500; k++) {
    void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    use(at);
    munmap(at, BYTES);
  }
}

static void *wake_nobody(void *unused) {
  static int word;
  for (int k = 0; k < 1500000; k++) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  return unused;
}

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "";
  pthread_t threads[2];
  if (!strcmp(what, "write")) write_lines();
  if (!strcmp(what, "map")) map_each();
  int wakes = !strcmp(what, "wake");
  if (!wakes && strcmp(what, "malloc")) return 0;
  for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, wakes ? wake_nobody : fill_blocks, NULL);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  return 0;
}
