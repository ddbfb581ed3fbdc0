/* Programs for which the kernel does most of the work: `malloc` (two threads that allocate, fill and free blocks of 1
 * MB, which the allocator returns to the system each time), `write` (of 16 bytes each), `map` (memory that is mapped
 * for each use), `send` (messages to itself, and a line of a log for every third), `sync` (writes to a file that is
 * opened so that they go to the device at once), `wake` (two threads that make wake calls without waiters, by
 * syscall()). */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
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

static int new_file(void) {
  char name[] = "/tmp/quartz-kernel-work-XXXXXX";
  int file = mkstemp(name);
  unlink(name);
  return file;
}

static void write_lines(void) {
  int file = new_file();
  for (int k = 0; k < 1000000; k++) {
    if (k % 65536 == 0 && lseek(file, 0, SEEK_SET)) abort();
    if (write(file, "0123456789abcdef", 16) != 16) abort();
  }
  close(file);
}

static void pass_message(const int *ends) {
  char message[16] = "0123456789abcde";
  if (send(ends[0], message, sizeof message, 0) != sizeof message) abort();
  if (recv(ends[1], message, sizeof message, 0) != sizeof message) abort();
  __asm__ volatile("" ::: "memory");
}

static void log_line(int file) {
  if (write(file, "0123456789abcdef", 16) != 16) abort();
  __asm__ volatile("" ::: "memory");
}

static void send_and_log(void) {
  int ends[2], file = new_file();
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) abort();
  for (int k = 0; k < 300000; k++) {
    pass_message(ends);
    if (k % 3 == 0) log_line(file);
  }
}

static void write_through(void) {
  char name[64], page[4096] = {1};
  snprintf(name, sizeof name, "/tmp/quartz-kernel-work-%d", (int)getpid());
  int file = open(name, O_CREAT | O_EXCL | O_WRONLY | O_DSYNC, 0600);
  unlink(name);
  for (int k = 0; k < 1000; k++)
    if (pwrite(file, page, sizeof page, k % 64 * 4096) != sizeof page) abort();
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
  if (!strcmp(what, "send")) send_and_log();
  if (!strcmp(what, "sync")) write_through();
  if (!strcmp(what, "map")) map_each();
  int wakes = !strcmp(what, "wake");
  if (!wakes && strcmp(what, "malloc")) return 0;
  for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, wakes ? wake_nobody : fill_blocks, NULL);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  return 0;
}
