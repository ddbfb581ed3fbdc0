/* Promises of syscall() and of the kernel's futex through it: results, errno, all six arguments, who is woken, signals,
 * time limits, cancellation, children. Prints what it finds, which is the same with and without the layer. One lost
 * wake-up blocks everything: after 100 s that is reported, with status 1. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif
enum { TURNS = 10000, CREW = 3, WORDS = 10000, KEPT = 77 };
static _Atomic int word, other, turn, tids[CREW];
static const char *volatile way = "none";

static long futex(_Atomic int *at, int operation, int value, const void *more, _Atomic int *second, unsigned third) {
  return syscall(SYS_futex, at, operation, value, more, second, third);
}
static long wait_for(_Atomic int *at, int value) { return futex(at, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0); }
static long wake(_Atomic int *at, int count) { return futex(at, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0); }

static void stuck(int signal) {
  if (write(1, "stuck: ", 7) < 0 || write(1, way, strlen(way)) < 0 || write(1, "\n", 1) < 0) _exit(2);
  _exit(1);
}
static void print_result(const char *what, long result) {
  printf("%s: %ld, errno %d\n", what, result, errno);
  errno = KEPT;
}

__attribute__((constructor)) static void before_main(void) {
  errno = KEPT;
  print_result("before main, nobody woken", wake(&word, 1));
  print_result("before main, another value", wait_for(&word, 1));
}

/* Leaves errno alone: the thread may not have published its number yet, or be at its end. */
static void until_asleep(const _Atomic int *tid) {
  int error = errno;
  for (int looks = 0; looks < 2; usleep(2000)) {
    char path[64], state = 0;
    int its = atomic_load(tid);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", its);
    FILE *file = its ? fopen(path, "r") : NULL;
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 0;
    if (file) fclose(file);
    looks = state == 'S' ? looks + 1 : 0;
  }
  errno = error;
}
static void crew(int members, void *(*member)(void *), pthread_t *threads) {
  for (int k = 0; k < members; k++) atomic_store(&tids[k], 0);
  for (int k = 0; k < members; k++)
    if (pthread_create(&threads[k], NULL, member, (void *)(size_t)k)) exit(99);
}
static void join(int members, const pthread_t *threads) {
  for (int k = 0; k < members; k++) pthread_join(threads[k], NULL);
}

/* ---- results ---- */

static void results(void) {
  const struct timespec soon = {0, 1000000}, past = {1, 0}, wrong = {0, 2000000000};
  way = "results";
  errno = KEPT;
  print_result("another value", wait_for(&word, 1));
  print_result("another value, shared", futex(&word, FUTEX_WAIT, 1, NULL, NULL, 0));
  print_result("a time limit", futex(&word, FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0));
  print_result("a time that is past",
               futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, &past, NULL, (unsigned)FUTEX_BITSET_MATCH_ANY));
  print_result("by the other clock", futex(&word, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 0, &past, NULL,
                                           (unsigned)FUTEX_BITSET_MATCH_ANY));
  print_result("no bits", futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, &soon, NULL, 0));
  print_result("no time", futex(&word, FUTEX_WAIT_PRIVATE, 0, &wrong, NULL, 0));
  print_result("no word", wait_for(NULL, 0));
  print_result("no word to wake", futex(NULL, FUTEX_WAKE, 1, NULL, NULL, 0));
  print_result("half a word", syscall(SYS_futex, (char *)&word + 1, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
  print_result("no operation", futex(&word, 99, 0, NULL, NULL, 0));
  print_result("nobody woken", wake(&word, INT_MAX));
  print_result("nobody moved", futex(&word, FUTEX_REQUEUE_PRIVATE, 1, (void *)1, &other, 0));
  print_result("moved, another value", futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)1, &other, 5));
  print_result("an operation", futex(&word, FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &other,
                                     FUTEX_OP(FUTEX_OP_SET, 7, FUTEX_OP_CMP_EQ, 0)));
  print_result("what that set", atomic_load(&other));
  atomic_store(&other, 0);
  print_result("a lock with inheritance", futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
  print_result("has its owner", atomic_load(&word) == (int)syscall(SYS_gettid));
  print_result("again", futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
  print_result("let go", futex(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
  print_result("is free", atomic_load(&word));
}

static void arguments(void) {
  way = "arguments";
  char name[] = "/tmp/quartz-futexes-XXXXXX", pages[3 * 4096];
  int file = mkstemp(name);
  for (int k = 0; k < 3; k++) memset(pages + 4096 * k, 'a' + k, 4096);
  if (file < 0 || unlink(name) || write(file, pages, sizeof pages) != (ssize_t)sizeof pages) exit(98);
  char *third = (char *)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE, file, 2 * 4096);
  printf("six arguments: %c\n", third == MAP_FAILED ? '-' : third[100]);
  syscall(SYS_munmap, third, 4096);
  close(file);
  print_result("no such call", syscall(100000));
  print_result("a bad descriptor", syscall(SYS_close, -1));
#ifdef SYS_clone3
  print_result("no arguments", syscall(SYS_clone3, 8, 64) < 0);
#endif
}

/* ---- who is woken ---- */

static void *waits(void *mine) {
  atomic_store(&tids[(size_t)mine], (int)syscall(SYS_gettid));
  while (!atomic_load(&turn)) wait_for(&word, 0);
  return mine;
}
static void woken(void) {
  pthread_t threads[CREW];
  way = "woken";
  atomic_store(&turn, 0);
  crew(CREW, waits, threads);
  for (int k = 0; k < CREW; k++) until_asleep(&tids[k]);
  atomic_store(&turn, 1);
  print_result("one of three", wake(&word, 1));
  print_result("two moved", futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 0, (void *)(size_t)INT_MAX, &other, 0));
  print_result("nobody is left", wake(&word, INT_MAX));
  print_result("one at the other",
               futex(&other, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, (unsigned)FUTEX_BITSET_MATCH_ANY));
  print_result("by an operation", futex(&word, FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &other,
                                        FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_EQ, 0)));
  join(CREW, threads);
}

/* Members in turn: nobody waits longer than for the one before. */
static void *in_turn(void *argument) {
  int mine = (int)(size_t)argument;
  for (int k = 0; k < TURNS; k++) {
    for (int now; (now = atomic_load(&turn)) % CREW != mine;) wait_for(&turn, now);
    atomic_fetch_add(&turn, 1);
    wake(&turn, INT_MAX);
  }
  return NULL;
}

/* A lock as C++'s and Rust's libraries have it: 0 free, 1 taken, 2 others wait. */
static long count;
static void *contends(void *argument) {
  for (int k = 0; k < TURNS; k++) {
    int free = 0;
    if (!atomic_compare_exchange_strong(&word, &free, 1))
      while (atomic_exchange(&word, 2)) wait_for(&word, 2);
    count++;
    if (atomic_exchange(&word, 0) == 2) wake(&word, 1);
  }
  return argument;
}

static void many(void) {
  static _Atomic int words[WORDS][4];
  const struct timespec soon = {0, 1};
  long timed_out = 0;
  way = "many words";
  for (int k = 0; k < WORDS; k++)
    timed_out += futex(&words[k][0], FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0) == -1 && errno == ETIMEDOUT;
  errno = KEPT;
  print_result("words", timed_out);
}

/* ---- signals, cancellation ---- */

#ifndef __SANITIZE_THREAD__
static _Atomic int handled;
static void handler(int signal) {
  int error = errno;
  static _Atomic int its;
  const struct timespec soon = {0, 100000};
  futex(&its, FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0);
  wake(&its, 1);
  atomic_fetch_add(&handled, 1);
  errno = error;
}
static _Atomic int outcome[2];
static void *is_interrupted(void *again) {
  atomic_store(&tids[0], (int)syscall(SYS_gettid));
  errno = 0;
  long result = wait_for(&word, 0);
  atomic_store(&outcome[0], (int)result);
  atomic_store(&outcome[1], result < 0 ? errno : 0);
  return again;
}
static void signals(void) {
  for (int again = 0; again < 2; again++) {
    way = again ? "restarted" : "interrupted";
    struct sigaction action = {.sa_handler = handler, .sa_flags = again ? SA_RESTART : 0};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t thread;
    atomic_store(&handled, 0);
    crew(1, is_interrupted, &thread);
    until_asleep(&tids[0]);
    pthread_kill(thread, SIGUSR1);
    while (!atomic_load(&handled)) usleep(100);
    if (again) until_asleep(&tids[0]);
    if (again) print_result("still asleep, woken", wake(&word, 1));
    pthread_join(thread, NULL);
    printf("%s: %d, errno %d\n", way, atomic_load(&outcome[0]), atomic_load(&outcome[1]));
  }
}
#endif

static void *is_cancelled(void *how) {
  pthread_setcanceltype((int)(size_t)how, NULL);
  atomic_store(&tids[0], (int)syscall(SYS_gettid));
  wait_for(&word, 0);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  return how;
}
static void cancellation(void) {
  for (int asynchronous = 0; asynchronous < 2; asynchronous++) {
    pthread_t thread;
    void *result;
    way = asynchronous ? "cancelled at any time" : "no cancellation point";
    int how = asynchronous ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
    atomic_store(&tids[0], 0);
    if (pthread_create(&thread, NULL, is_cancelled, (void *)(size_t)how)) exit(99);
    until_asleep(&tids[0]);
    pthread_cancel(thread);
    if (!asynchronous) print_result("asleep after it was cancelled", wake(&word, 1));
    pthread_join(thread, &result);
    printf("%s: %s\n", way, result == PTHREAD_CANCELED ? "cancelled" : "returned");
  }
}

/* ---- children ---- */

static void after(const char *what, pid_t child) {
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  printf("%s: %d\n", what, child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}
/* Its own waits, in memory of its own. */
static int in_child(void) {
  const struct timespec soon = {0, 1000000};
  long result = futex(&word, FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0);
  return result == -1 && errno == ETIMEDOUT && !wake(&word, 1) ? 5 : 6;
}
static void children(void) {
  way = "children";
  fflush(stdout);
  pid_t child = fork();
  if (!child) _exit(in_child());
  after("fork", child);
  child = vfork();
  if (!child) _exit(wake(&word, 1) ? 6 : 5);
  after("vfork", child);
#ifndef SANITIZED
#ifdef SYS_fork
  child = (pid_t)syscall(SYS_fork);
  if (!child) _exit(in_child());
  after("fork by number", child);
#endif
  child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (!child) _exit(in_child());
  after("clone by number", child);
#if defined(__x86_64__)
  child = (pid_t)syscall(SYS_vfork);
  if (!child) __asm__ volatile("syscall" : : "a"(SYS_exit), "D"(7)); /* calls nothing: its parent's frame is its own */
  after("vfork by number", child);
#endif
#endif
}

#ifndef SANITIZED
/* A thread that the C library knows nothing of: it has the thread-local data of the one that made it. */
static _Atomic int bare_tid;
static int bare(void *unused) {
  const struct timespec soon = {0, 10000};
  for (int k = 0; k < 500; k++) {
    futex(&other, FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0);
    wake(&turn, 1);
  }
  return unused != NULL;
}
static void bare_thread(void) {
  static char stack[65536] __attribute__((aligned(64)));
  const struct timespec soon = {0, 10000};
  way = "a thread without thread-local data";
  atomic_store(&bare_tid, 1);
  int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
  if (clone(bare, stack + sizeof stack, flags, NULL, NULL, NULL, &bare_tid) < 0) exit(97);
  for (int k = 0; k < 500; k++) futex(&turn, FUTEX_WAIT_PRIVATE, atomic_load(&turn), &soon, NULL, 0);
  for (int tid; (tid = atomic_load(&bare_tid)) != 0;) futex(&bare_tid, FUTEX_WAIT, tid, NULL, NULL, 0);
  puts("a thread without thread-local data: ended");
}
#endif

int main(void) {
  pthread_t threads[CREW];
  signal(SIGALRM, stuck);
  alarm(100);
  setvbuf(stdout, NULL, _IOLBF, 0);
  results();
  arguments();
  woken();
  atomic_store(&turn, 0);
  way = "in turn";
  crew(CREW, in_turn, threads);
  join(CREW, threads);
  printf("turns: %d\n", atomic_load(&turn));
  way = "a lock";
  crew(CREW, contends, threads);
  join(CREW, threads);
  printf("exclusion: %ld of %d\n", count, CREW * TURNS);
  many();
#ifndef __SANITIZE_THREAD__ /* which puts off signals until the thread has come back from such a call */
  signals();
#endif
  cancellation();
  children();
#ifndef SANITIZED
  bare_thread();
#endif
  puts("right");
  return 0;
}
