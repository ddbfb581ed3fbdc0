/* What a program does, written down by itself: for each call of a thread library when it began and returned, as seen by
 * the program, with the processor time of the kernel thread. ../oracle/chains.ts computes both chains from it.
 *
 * Written to the file that TEST_EVENTS names, which is mapped: nothing is left to be done when the program ends.
 */
#ifndef TEST_EVENTS_H
#define TEST_EVENTS_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_MOST 20000u

struct event {
  uint64_t ns, cpu_ns;
  char what[8]; /* zeros follow; an empty one ends the events */
  uint64_t who, whom;
  uint64_t frame; /* where the caller's stack is */
};
static struct event *events;
static uint32_t events_count;

static uint64_t clock_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
/* Not inlined, because the caller may have moved to another kernel thread since its last call. */
__attribute__((noinline, no_instrument_function)) static void event(const char *what, uint64_t who, uint64_t whom) {
  uint32_t at = __atomic_fetch_add(&events_count, 1, __ATOMIC_RELAXED);
  if (at >= EVENTS_MOST) abort();
  struct event *one = &events[at];
  memcpy(one->what, what, strlen(what));
  one->who = who;
  one->whom = whom;
  one->frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
  one->cpu_ns = clock_of(CLOCK_THREAD_CPUTIME_ID);
  one->ns = clock_of(CLOCK_MONOTONIC);
}
__attribute__((no_instrument_function)) static void events_begin(void) {
  const char *path = getenv("TEST_EVENTS");
  int file = open(path ? path : "/dev/zero", O_RDWR | O_CREAT | O_TRUNC, 0600);
  size_t bytes = EVENTS_MOST * sizeof *events;
  if (file < 0 || (path && ftruncate(file, (off_t)bytes))) abort();
  events = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  if (events == MAP_FAILED) abort();
  close(file);
}

#endif
