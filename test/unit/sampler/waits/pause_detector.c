/* Threads that signal that they wait: samples made by hand, of code in this process. */
#include "sampler/waits/pause_detector.h"

#include <unistd.h>
#include "stub_paths.h"

#if defined(__x86_64__)
enum { BYTES = 2 };
static const unsigned char pauses[] = {0xf3, 0x90}, other[] = {0x66, 0x90};
#else
enum { BYTES = 4 };
static const unsigned char pauses[] = {0x3f, 0x20, 0x03, 0xd5}, other[] = {0x1f, 0x20, 0x03, 0xd5};
#endif
enum { WORD = 7, BARRIER = 0x100, TASK = 0x200, HELPER = 0x300, PROGRAM = 0x400, YIELD = 0x500 };
static const struct procedure known[] = {
  {BARRIER, QZI_LIBRARY, ""}, {TASK, 0, ""}, {HELPER, QZI_LIBRARY_C, ""}, {PROGRAM, 0, ""}, {YIELD, QZI_LIBRARY, ""}};

static unsigned char code[16 * BYTES];
#define AT 8 /* the pause is that instruction */
static struct qzi_pause_detector of;
static struct qzi_pause_known pauses_known;
static uint64_t place(int instruction) { return (uint64_t)(uintptr_t)(code + instruction * BYTES); }

static struct qzi_walk walk_of(uint32_t count, uint64_t first, uint64_t second, uint64_t third) {
  return (struct qzi_walk){.count = count, .entries = {first, second, third}};
}
/* Adds a sample at that instruction; returns where it waits. */
static uint64_t look(int instruction, int user, const struct qzi_walk *walk) {
  static struct qzi_sample sample;
  sample.at.pc = place(instruction);
  sample.user = user;
  qzi_pause_detector_look(&of, &pauses_known, (uint32_t)getpid(), WORD, &sample, paths, walk);
  CHECK(!qzi_pause_detector_at(&of, WORD + 1)); /* the record has changed: it has called something since */
  return qzi_pause_detector_at(&of, WORD);
}

int main(void) {
  procedures = known;
  procedures_count = sizeof known / sizeof *known;
  for (int k = 0; k < 16; k++) memcpy(code + k * BYTES, k == AT ? pauses : other, BYTES);
  uint64_t pause = place(AT);

  /* In the program's own code each sample counts alone: before the pause, or just after it. */
  struct qzi_walk own = walk_of(1, PROGRAM, 0, 0);
  CHECK(look(AT, 1, NULL) == pause && look(AT + 1, 1, NULL) == pause);
  CHECK(look(AT, 1, &own) == pause);
  CHECK(!look(AT - 1, 1, &own) && !look(AT + 2, 1, &own));
  CHECK(!look(AT, 0, &own)); /* in the kernel, at the place of a system call */
  of.pause = 0;

  /* A library's procedure that has paused waits as long as it is active, */
  struct qzi_walk barrier = walk_of(2, PROGRAM, BARRIER, 0), yields = walk_of(3, PROGRAM, BARRIER, YIELD),
                  c = walk_of(3, PROGRAM, BARRIER, HELPER), task = walk_of(3, PROGRAM, BARRIER, TASK),
                  alone = walk_of(1, PROGRAM, 0, 0), others = walk_of(2, TASK, BARRIER, 0);
  CHECK(!look(2, 1, &barrier));
  CHECK(look(AT, 1, &barrier) == pause);
  CHECK(look(2, 1, &barrier) == pause && look(2, 0, &barrier) == pause);
  /* also while it calls libraries, */
  CHECK(look(2, 1, &yields) == pause && look(2, 1, &c) == pause && look(2, 1, &barrier) == pause);
  /* but not while it executes the program's code, */
  CHECK(!look(2, 1, &task));
  CHECK(!look(2, 1, &barrier)); /* nor after that, until it pauses again */
  CHECK(look(AT, 1, &barrier) == pause);
  /* when it has returned, */
  CHECK(!look(2, 1, &alone) && !look(2, 1, &barrier));
  /* or is called by another one. */
  CHECK(look(AT, 1, &barrier) == pause);
  CHECK(!look(2, 1, &others));
  CHECK(look(AT, 1, &barrier) == pause);
  CHECK(!look(2, 1, NULL));

  /* What takes a lock of OpenMP says itself when it waits. */
  struct qzi_walk lock = barrier;
  lock.in_lock = 1;
  CHECK(!look(AT, 1, &lock) && !look(2, 1, &barrier));
  return 0;
}
